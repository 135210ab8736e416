-- Outside a transaction. A failure leaves an invalid index, so all of these can run again.
DROP INDEX CONCURRENTLY IF EXISTS "notifications_by_position";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "notifications_by_position" ON "notifications" USING btree ("position");
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "mails_of_kind";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "mails_of_kind" ON "mails" USING btree ("user_id","type","job_id") WHERE kind = 'notification';
