DROP INDEX "jobs_open";--> statement-breakpoint
DROP INDEX "jobs_of_homeowner";--> statement-breakpoint
DROP INDEX "jobs_awarded_to";--> statement-breakpoint
CREATE INDEX "jobs_in_state" ON "jobs" USING btree ("status","created_at","id");--> statement-breakpoint
CREATE INDEX "jobs_of_trade" ON "jobs" USING btree ("category","created_at","id","status","urgency");--> statement-breakpoint
CREATE INDEX "jobs_of_homeowner" ON "jobs" USING btree ("homeowner_id","created_at","id","status");--> statement-breakpoint
CREATE INDEX "jobs_awarded_to" ON "jobs" USING btree ("awarded_contractor_id","homeowner_id") WHERE "jobs"."awarded_contractor_id" is not null;