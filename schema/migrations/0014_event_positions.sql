-- Each event gets a position among all events after its commit, and keeps it. Every channel reads events by `position`.
DROP TRIGGER events_are_append_only ON events;--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "homeowner_id" text collate "C";--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "position" bigint;--> statement-breakpoint
-- Earlier events. Only the owner can act on a draft, so if the job was deleted, the actor of its events was the owner.
UPDATE events e SET position = given.position, homeowner_id = given.homeowner_id
FROM (
  SELECT timed.id, coalesce(j.homeowner_id, h.id) AS homeowner_id,
    row_number() OVER (ORDER BY timed.happened, timed.job_id, timed.sequence) AS position
  FROM (
    SELECT id, job_id, sequence, actor_id, max(occurred_at) OVER (PARTITION BY job_id ORDER BY sequence) AS happened
    FROM events
  ) timed
  LEFT JOIN jobs j ON j.id = timed.job_id
  LEFT JOIN homeowners h ON h.user_id = timed.actor_id
) given
WHERE given.id = e.id;--> statement-breakpoint
ALTER TABLE "events" ALTER COLUMN "homeowner_id" SET NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "events_by_position" ON "events" USING btree ("position") WHERE "events"."position" is not null;--> statement-breakpoint
CREATE INDEX "events_of_job_by_position" ON "events" USING btree ("job_id","position") WHERE "events"."position" is not null;--> statement-breakpoint
CREATE INDEX "events_of_homeowner_by_position" ON "events" USING btree ("homeowner_id","position") WHERE "events"."position" is not null;--> statement-breakpoint
CREATE INDEX "events_without_position" ON "events" USING btree ("job_id","sequence") WHERE "events"."position" is null;--> statement-breakpoint
CREATE TRIGGER events_are_append_only BEFORE UPDATE OF id, job_id, sequence, type, actor_id, bidder_id, from_status,
  to_status, occurred_at, data, homeowner_id OR DELETE OR TRUNCATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();--> statement-breakpoint
-- A position never changes. (AFTER, because a BEFORE trigger would lock each row a second time.)
CREATE TRIGGER positions_are_kept AFTER UPDATE OF position ON events
  FOR EACH ROW WHEN (OLD.position IS NOT NULL) EXECUTE FUNCTION refuse_rewriting();--> statement-breakpoint
-- Assigns positions to up to `batch` committed events, and notifies all servers. If two callers run this at the same
-- time, one waits until the other has committed. Each statement below then sees everything that was committed before it
-- began, so positions have no gaps or duplicates. An event whose transaction commits late gets a higher position than
-- those that readers have seen. The events of one job keep their order, because they commit in that order and a batch
-- takes the first ones of each job. Otherwise, events are in the order of their times. Returns how many events were
-- numbered, the last position, and how long the oldest event waited.
CREATE FUNCTION number_events(batch integer, OUT numbered integer, OUT last_position bigint, OUT lag_seconds float8)
LANGUAGE plpgsql
-- A plan that was made while the table was small must not scan it later.
SET enable_seqscan = off
AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(7203119);
  SELECT coalesce(max(e.position), 0) INTO last_position FROM events e;
  WITH taken AS (
    SELECT e.id, e.job_id, e.sequence, e.occurred_at FROM events e WHERE e.position IS NULL
    ORDER BY e.job_id, e.sequence LIMIT batch
  ), timed AS (
    SELECT t.id, t.job_id, t.sequence, max(t.occurred_at) OVER (PARTITION BY t.job_id ORDER BY t.sequence) AS happened
    FROM taken t
  ), given AS (
    SELECT t.id, row_number() OVER (ORDER BY t.happened, t.job_id, t.sequence) AS place FROM timed t
  ), changed AS (
    UPDATE events e SET position = last_position + g.place FROM given g WHERE e.id = g.id
    RETURNING e.occurred_at
  )
  SELECT count(*), extract(epoch FROM clock_timestamp() - min(c.occurred_at)) INTO numbered, lag_seconds FROM changed c;
  IF numbered > 0 THEN
    last_position := last_position + numbered;
    PERFORM pg_notify('events', last_position::text);
  END IF;
END
$$;
