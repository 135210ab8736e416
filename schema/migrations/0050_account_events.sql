CREATE TABLE "account_events" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"user_id" text collate "C" NOT NULL,
	"type" text NOT NULL,
	"actor_id" text collate "C",
	"occurred_at" timestamp (3) with time zone NOT NULL,
	"data" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"position" bigint
);
--> statement-breakpoint
ALTER TABLE "webhook_endpoints" ADD COLUMN "account_event_types" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "webhook_endpoints" ADD COLUMN "failure_reported_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "account_events" ADD CONSTRAINT "account_events_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "account_events" ADD CONSTRAINT "account_events_actor_id_users_id_fk" FOREIGN KEY ("actor_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "account_events_by_position" ON "account_events" USING btree ("position") WHERE "account_events"."position" is not null;--> statement-breakpoint
CREATE INDEX "account_events_of_user_by_position" ON "account_events" USING btree ("user_id","position") WHERE "account_events"."position" is not null;--> statement-breakpoint
CREATE INDEX "account_events_without_position" ON "account_events" USING btree ("id") WHERE "account_events"."position" is null;--> statement-breakpoint
-- Each row is updated once, when it gets its position, as in "events".
ALTER TABLE "account_events" SET (
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_analyze_scale_factor = 0.02
);--> statement-breakpoint
CREATE TRIGGER account_events_are_append_only BEFORE UPDATE OF id, user_id, type, actor_id, occurred_at, data
  OR DELETE OR TRUNCATE ON account_events FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();--> statement-breakpoint
CREATE TRIGGER positions_are_kept AFTER UPDATE OF position ON account_events
  FOR EACH ROW WHEN (OLD.position IS NOT NULL) EXECUTE FUNCTION refuse_rewriting();--> statement-breakpoint
-- Assigns positions to up to `batch` committed events, and notifies all servers. Job events and account events share one
-- sequence. If two callers run this at the same time, one waits until the other has committed. Each statement below then
-- sees everything that was committed before it began, so positions have no gaps or duplicates, and an event whose
-- transaction commits late gets a higher position than those that readers have seen. The events of one job keep their
-- order, because they commit in that order and a batch takes the first ones of each job. Otherwise, events are in the
-- order of their times. Returns how many events were numbered, the last position, and how long the oldest event waited.
CREATE OR REPLACE FUNCTION number_events(batch integer, OUT numbered integer, OUT last_position bigint,
  OUT lag_seconds float8)
LANGUAGE plpgsql
-- A plan that was made while a table was small must not scan it later.
SET enable_seqscan = off
AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(7203119);
  SELECT greatest((SELECT coalesce(max(e.position), 0) FROM events e),
    (SELECT coalesce(max(a.position), 0) FROM account_events a)) INTO last_position;
  WITH job_events AS (
    SELECT e.id, e.job_id, e.sequence, e.occurred_at FROM events e WHERE e.position IS NULL
    ORDER BY e.job_id, e.sequence LIMIT batch
  ), of_accounts AS (
    SELECT a.id, a.occurred_at FROM account_events a WHERE a.position IS NULL ORDER BY a.id LIMIT batch
  ), timed AS (
    SELECT j.id, j.job_id, j.sequence, max(j.occurred_at) OVER (PARTITION BY j.job_id ORDER BY j.sequence) AS happened
    FROM job_events j
    UNION ALL SELECT o.id, NULL, NULL, o.occurred_at FROM of_accounts o
  ), given AS (
    SELECT t.id, t.job_id, row_number() OVER (ORDER BY t.happened, t.job_id, t.sequence, t.id) AS place FROM timed t
    ORDER BY place LIMIT batch
  ), changed_job_events AS (
    UPDATE events e SET position = last_position + g.place FROM given g WHERE g.job_id IS NOT NULL AND e.id = g.id
    RETURNING e.occurred_at
  ), changed_account_events AS (
    UPDATE account_events a SET position = last_position + g.place FROM given g WHERE g.job_id IS NULL AND a.id = g.id
    RETURNING a.occurred_at
  )
  SELECT count(*), extract(epoch FROM clock_timestamp() - min(c.occurred_at)) INTO numbered, lag_seconds
  FROM (SELECT * FROM changed_job_events UNION ALL SELECT * FROM changed_account_events) c;
  IF numbered > 0 THEN
    last_position := last_position + numbered;
    PERFORM pg_notify('events', last_position::text);
  END IF;
END
$$;
