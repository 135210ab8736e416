-- Outside a transaction. It is run again after a failure, which leaves an index that is not valid.
DROP INDEX CONCURRENTLY IF EXISTS "users_suspended";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "users_suspended" ON "users" USING btree ("id") WHERE suspended_at is not null;
