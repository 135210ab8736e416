-- Outside a transaction. A failure leaves an invalid index, so all of these can run again.
DROP INDEX CONCURRENTLY IF EXISTS "jobs_open_of_homeowner";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "jobs_open_of_homeowner" ON "jobs" USING btree ("homeowner_id","id") WHERE "jobs"."status" = 'open';
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "jobs_with_running_deadlines";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "jobs_with_running_deadlines" ON "jobs" USING btree ("homeowner_id","id") WHERE "jobs"."deadline_from" is not null and "jobs"."paused_from" is null;
