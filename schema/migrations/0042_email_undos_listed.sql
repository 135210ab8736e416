-- Outside a transaction. A failure leaves an invalid index, so this can run again.
DROP INDEX CONCURRENTLY IF EXISTS "users_email_undos";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "users_email_undos" ON "users" USING btree ("email_undo","email_undo_address") WHERE email_undo is not null;
