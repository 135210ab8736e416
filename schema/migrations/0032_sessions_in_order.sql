-- Outside a transaction. A failure leaves an invalid index, so both can run again.
DROP INDEX CONCURRENTLY IF EXISTS "refresh_tokens_unused";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "refresh_tokens_unused" ON "refresh_tokens" USING btree ("session_id") WHERE used_at is null;
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "sessions_in_order";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "sessions_in_order" ON "sessions" USING btree ("user_id","created_at","id") WHERE revoked_at is null;
