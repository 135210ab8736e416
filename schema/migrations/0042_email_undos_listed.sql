-- Outside a transaction. It is run again after a failure, which leaves an index that is not valid.
DROP INDEX CONCURRENTLY IF EXISTS "users_email_undos";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "users_email_undos" ON "users" USING btree ("email_undo","email_undo_address") WHERE email_undo is not null;
