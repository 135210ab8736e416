ALTER TABLE "jobs" ADD COLUMN "status_changed_at" timestamp (3) with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
-- Each job's events say since when it has been in its state.
UPDATE "jobs" j SET "status_changed_at" = greatest(j."created_at", (SELECT max(e."occurred_at") FROM "events" e WHERE e."job_id" = j."id" AND e."from_status" IS DISTINCT FROM e."to_status"));--> statement-breakpoint
CREATE INDEX "jobs_in_state_by_change" ON "jobs" USING btree ("status","status_changed_at","id","category");