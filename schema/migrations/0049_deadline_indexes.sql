-- Outside a transaction. A failure leaves an invalid index, so all of these can run again.
DROP INDEX CONCURRENTLY IF EXISTS "jobs_to_look_at";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "jobs_to_look_at" ON "jobs" USING btree ("next_look_at") WHERE "jobs"."next_look_at" is not null;
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "jobs_with_paused_deadlines";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "jobs_with_paused_deadlines" ON "jobs" USING btree ("id") WHERE "jobs"."paused_from" is not null;
