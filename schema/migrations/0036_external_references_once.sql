-- Outside a transaction. A failure leaves an invalid index, so this can run again.
DROP INDEX CONCURRENTLY IF EXISTS "token_transfers_external_reference";
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "token_transfers_external_reference" ON "token_transfers" USING btree ("external_reference") WHERE external_reference is not null;
