-- Drops what 0019_tasks kept for the previous release. Releases that know tasks don't use these columns.
DROP TRIGGER webhook_deliveries_of_release_before ON webhook_deliveries;--> statement-breakpoint
DROP FUNCTION queue_for_release_before();--> statement-breakpoint
-- squawk-ignore ban-drop-column
ALTER TABLE "webhook_deliveries" DROP COLUMN "attempts_made", DROP COLUMN "due_at", DROP COLUMN "claim";--> statement-breakpoint
UPDATE "oldest_build" SET "newest_migration" = greatest("newest_migration", 1795639997801);
