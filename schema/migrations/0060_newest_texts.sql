-- Outside a transaction. A failure leaves an invalid index, so all of these can run again.
DROP INDEX CONCURRENTLY IF EXISTS "job_search_newest";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "job_search_newest" ON "job_search" USING btree ("created_at","job_id");
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "open_job_search_newest";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "open_job_search_newest" ON "open_job_search" USING btree ("created_at","job_id");
