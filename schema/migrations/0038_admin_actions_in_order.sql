-- Outside a transaction. A failure leaves an invalid index, so all of these can run again.
DROP INDEX CONCURRENTLY IF EXISTS "admin_actions_newest";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "admin_actions_newest" ON "admin_actions" USING btree ("created_at","id");
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "admin_actions_of_admin";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "admin_actions_of_admin" ON "admin_actions" USING btree ("admin_id","created_at","id");
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "admin_actions_to_user";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "admin_actions_to_user" ON "admin_actions" USING btree ("user_id","created_at","id");
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "admin_actions_by_name";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "admin_actions_by_name" ON "admin_actions" USING btree ("action","created_at","id");
