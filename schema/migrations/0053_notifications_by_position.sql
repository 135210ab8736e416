-- Outside a transaction. A failure leaves an invalid index, so both of these can run again.
DROP INDEX CONCURRENTLY IF EXISTS "notifications_by_position";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "notifications_by_position" ON "notifications" USING btree ("position");
