CREATE TABLE "deadline_clock" (
	"is_only_row" boolean PRIMARY KEY DEFAULT true NOT NULL,
	-- squawk-ignore prefer-bigint-over-int
	"ahead_seconds" integer DEFAULT 0 NOT NULL,
	"settings" text,
	"acting_since" timestamp (3) with time zone,
	"ran_at" timestamp (3) with time zone,
	CONSTRAINT "deadline_clock_has_one_row" CHECK ("deadline_clock"."is_only_row"),
	CONSTRAINT "deadline_clock_never_goes_back" CHECK ("deadline_clock"."ahead_seconds" >= 0)
);
--> statement-breakpoint
ALTER TABLE "holds" ADD COLUMN "deadline_from" timestamp (3) with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
ALTER TABLE "holds" ADD COLUMN "reminded_at" timestamp (3) with time zone;--> statement-breakpoint
-- For jobs that are already in a state, counting starts now. New jobs have no deadline.
ALTER TABLE "jobs" ADD COLUMN "deadline_from" timestamp (3) with time zone DEFAULT now();--> statement-breakpoint
ALTER TABLE "jobs" ALTER COLUMN "deadline_from" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "disputed_from" timestamp (3) with time zone DEFAULT now();--> statement-breakpoint
ALTER TABLE "jobs" ALTER COLUMN "disputed_from" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "deadline_extended_seconds" double precision DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "reminded_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "paused_from" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "next_look_at" timestamp (3) with time zone;--> statement-breakpoint
INSERT INTO "deadline_clock" DEFAULT VALUES;--> statement-breakpoint
-- A release that doesn't know the columns changes only the state. The clock then computes the rest.
CREATE FUNCTION start_deadline() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.deadline_from := (SELECT clock_timestamp() + make_interval(secs => ahead_seconds) FROM deadline_clock);
  NEW.deadline_extended_seconds := 0;
  NEW.reminded_at := NULL;
  NEW.paused_from := NULL;
  NEW.next_look_at := NEW.deadline_from;
  IF NEW.status = 'disputed' THEN
    NEW.disputed_from := NEW.deadline_from;
  END IF;
  RETURN NEW;
END
$$;--> statement-breakpoint
CREATE TRIGGER jobs_start_deadline BEFORE UPDATE OF status ON jobs FOR EACH ROW
  WHEN (NEW.status IS DISTINCT FROM OLD.status AND NEW.deadline_from IS NOT DISTINCT FROM OLD.deadline_from)
  EXECUTE FUNCTION start_deadline();--> statement-breakpoint
-- That release also inserts stakes without planning a look. The homeowner is reminded after 24 hours at the earliest.
CREATE FUNCTION look_at_stake() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE jobs SET next_look_at = NEW.deadline_from + interval '24 hours' WHERE id = NEW.job_id AND status = 'open'
    AND (next_look_at IS NULL OR next_look_at > NEW.deadline_from + interval '24 hours');
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER holds_look_at_stake AFTER INSERT ON holds FOR EACH ROW EXECUTE FUNCTION look_at_stake();
