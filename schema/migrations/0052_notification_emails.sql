-- Outside a transaction. A failure leaves an invalid index, so all of these can run again.
DROP INDEX CONCURRENTLY IF EXISTS "mails_waiting_notifications";
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "mails_waiting_notifications" ON "mails" USING btree ("user_id","type",coalesce(job_id, '')) WHERE kind = 'notification' and outcome is null;
