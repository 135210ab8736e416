CREATE TABLE "tasks" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"key" text collate "C" NOT NULL,
	"run_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"leased_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE INDEX "tasks_by_key" ON "tasks" USING btree ("kind","key","run_at");--> statement-breakpoint
-- Locked first. Otherwise, a transaction that has read the table and now writes to it could deadlock with this one.
LOCK TABLE "webhook_deliveries" IN ACCESS EXCLUSIVE MODE;--> statement-breakpoint
-- A delivery that an instance of the previous release is sending is due when its claim ends. By then, the instance has
-- recorded its attempt, or it was killed.
INSERT INTO "tasks" ("id", "kind", "key", "run_at", "attempts", "created_at")
SELECT "id", 'webhook', "endpoint_id", "due_at", "attempts_made", "created_at" FROM "webhook_deliveries"
WHERE "status" = 'waiting';--> statement-breakpoint
-- Instances of the previous release run until they are replaced. They find no more deliveries that are due. What they
-- queue becomes a task. Only they need the columns "attempts_made", "due_at", and "claim", the index
-- "webhook_deliveries_waiting", and this trigger. A later release drops them.
ALTER TABLE "webhook_deliveries" ALTER COLUMN "due_at" SET DEFAULT '9999-12-31 00:00:00+00';--> statement-breakpoint
UPDATE "webhook_deliveries" SET "due_at" = DEFAULT WHERE "status" = 'waiting';--> statement-breakpoint
CREATE FUNCTION queue_for_release_before() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- This release doesn't write this column.
  IF NEW.due_at IS DISTINCT FROM OLD.due_at THEN
    INSERT INTO tasks (id, kind, key, run_at, attempts)
    VALUES (NEW.id, 'webhook', NEW.endpoint_id, NEW.due_at, NEW.attempts_made)
    ON CONFLICT (id) DO UPDATE SET run_at = excluded.run_at, attempts = excluded.attempts
      WHERE tasks.leased_until IS NULL OR tasks.leased_until <= now();
  END IF;
  NEW.due_at := '9999-12-31 00:00:00+00';
  RETURN NEW;
END
$$;
--> statement-breakpoint
CREATE TRIGGER webhook_deliveries_of_release_before BEFORE INSERT OR UPDATE ON webhook_deliveries FOR EACH ROW
  WHEN (NEW.status = 'waiting' AND NEW.due_at < '9999-12-31 00:00:00+00') EXECUTE FUNCTION queue_for_release_before();
