-- Outside a transaction. A failure leaves an invalid index, so this can run again.
DROP INDEX CONCURRENTLY IF EXISTS "users_suspended";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "users_suspended" ON "users" USING btree ("id") WHERE suspended_at is not null;
