-- Outside a transaction. A failure leaves an invalid index, so all of these can run again.
DROP INDEX CONCURRENTLY IF EXISTS "jobs_newest_in_state";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "jobs_newest_in_state" ON "jobs" USING btree ("status","created_at","id","budget_min","budget_rank");
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "jobs_newest_of_trade";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "jobs_newest_of_trade" ON "jobs" USING btree ("category","created_at","id","status","urgency","budget_min","budget_rank");
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "jobs_updated_in_state";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "jobs_updated_in_state" ON "jobs" USING btree ("status","updated_at","id","budget_min","budget_rank");
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "jobs_updated_of_trade";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "jobs_updated_of_trade" ON "jobs" USING btree ("category","updated_at","id","status","urgency","budget_min","budget_rank");
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "jobs_highest_budget_in_state";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "jobs_highest_budget_in_state" ON "jobs" USING btree ("status","budget_rank","id","category","budget_min");
--> statement-breakpoint
-- The indexes that the new ones replace.
DROP INDEX CONCURRENTLY IF EXISTS "jobs_in_state";
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "jobs_of_trade";
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "jobs_in_state_by_update";
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "jobs_of_trade_by_update";
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "jobs_in_state_by_budget";
