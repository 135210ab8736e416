-- Outside a transaction. A failure leaves an invalid index, so all of these can run again.
DROP INDEX CONCURRENTLY IF EXISTS "token_transfers_one_credit_of_purchase";
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "token_transfers_one_credit_of_purchase" ON "token_transfers" USING btree ("purchase_id") WHERE reason = 'purchase';
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "token_transfers_of_purchase";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "token_transfers_of_purchase" ON "token_transfers" USING btree ("purchase_id") WHERE purchase_id is not null;
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "token_transfers_bought_of_job";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "token_transfers_bought_of_job" ON "token_transfers" USING btree ("job_id") WHERE bought > 0 and job_id is not null;
--> statement-breakpoint
-- Validating again is harmless.
-- squawk-ignore prefer-robust-stmts
ALTER TABLE "token_balances" VALIDATE CONSTRAINT "token_balances_bought_is_a_part";
--> statement-breakpoint
-- Validating again is harmless.
-- squawk-ignore prefer-robust-stmts
ALTER TABLE "token_transfers" VALIDATE CONSTRAINT "token_transfers_bought_is_a_part";
