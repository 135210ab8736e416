CREATE INDEX "jobs_recently_updated" ON "jobs" USING btree ("updated_at","id");--> statement-breakpoint
CREATE INDEX "jobs_of_homeowner_by_update" ON "jobs" USING btree ("homeowner_id","updated_at","id","status");--> statement-breakpoint
CREATE INDEX "jobs_in_state_by_update" ON "jobs" USING btree ("status","updated_at","id");--> statement-breakpoint
CREATE INDEX "jobs_of_trade_by_update" ON "jobs" USING btree ("category","updated_at","id","status","urgency");