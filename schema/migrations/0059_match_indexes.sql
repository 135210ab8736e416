-- Outside a transaction. A failure leaves an invalid index, so all of these can run again.
DROP INDEX CONCURRENTLY IF EXISTS "notifications_of_job_unmatched";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "notifications_of_job_unmatched" ON "notifications" USING btree ("user_id","job_id") WHERE "notifications"."job_id" is not null and "notifications"."match_alert" is null;
--> statement-breakpoint
-- The indexes that the new one and the index by position replace.
DROP INDEX CONCURRENTLY IF EXISTS "notifications_of_job";
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "notifications_of_matches";
