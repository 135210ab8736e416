-- A release that doesn't know the column changes a job's state without changing the time.
CREATE FUNCTION note_change_of_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.status_changed_at := clock_timestamp();
  RETURN NEW;
END
$$;
--> statement-breakpoint
CREATE TRIGGER jobs_note_change_of_status BEFORE UPDATE OF status ON jobs FOR EACH ROW
  WHEN (NEW.status IS DISTINCT FROM OLD.status AND NEW.status_changed_at = OLD.status_changed_at)
  EXECUTE FUNCTION note_change_of_status();
