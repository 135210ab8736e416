-- Outside a transaction. A failure leaves an invalid index, so all of these can run again.
DO $$
DECLARE
  behind text := '';
  up_to text;
BEGIN
  LOOP
    SELECT max(batch.id) INTO up_to FROM (SELECT id FROM admin_actions WHERE id > behind ORDER BY id LIMIT 5000) batch;
    EXIT WHEN up_to IS NULL;
    PERFORM set_config('lock_timeout', '1s', true);
    UPDATE admin_actions a SET other_user_id = c.user_id FROM jobs j JOIN contractors c ON c.id = j.awarded_contractor_id
    WHERE a.id > behind AND a.id <= up_to AND j.id = a.job_id AND a.other_user_id IS NULL;
    COMMIT;
    behind := up_to;
  END LOOP;
END
$$;
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "users_suspended_newest";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "users_suspended_newest" ON "users" USING btree ("created_at","id") WHERE suspended_at is not null;
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "users_undeliverable_newest";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "users_undeliverable_newest" ON "users" USING btree ("created_at","id") WHERE email_undeliverable;
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "users_verified_newest";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "users_verified_newest" ON "users" USING btree ("email_verified","created_at","id");
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "users_of_type_verified";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "users_of_type_verified" ON "users" USING btree ("user_type","email_verified","created_at","id");
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "admin_actions_to_other_user";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "admin_actions_to_other_user" ON "admin_actions" USING btree ("other_user_id","created_at","id") WHERE other_user_id is not null;
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "admin_actions_on_job";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "admin_actions_on_job" ON "admin_actions" USING btree ("job_id","created_at","id") WHERE job_id is not null;
