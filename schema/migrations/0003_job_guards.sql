CREATE TRIGGER events_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
--> statement-breakpoint
-- The searchable copy of a job's texts follows the job itself, so that no statement can forget it.
CREATE FUNCTION copy_job_texts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO job_search (job_id, title, description) VALUES (NEW.id, NEW.title, NEW.description)
  ON CONFLICT (job_id) DO UPDATE SET title = excluded.title, description = excluded.description;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER jobs_are_searchable AFTER INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION copy_job_texts();
--> statement-breakpoint
CREATE TRIGGER jobs_stay_searchable AFTER UPDATE OF title, description ON jobs FOR EACH ROW
  WHEN (OLD.title IS DISTINCT FROM NEW.title OR OLD.description IS DISTINCT FROM NEW.description)
  EXECUTE FUNCTION copy_job_texts();
--> statement-breakpoint
-- The two tables name each other, which their definitions cannot.
ALTER TABLE bids ADD CONSTRAINT bids_are_on_a_job FOREIGN KEY (job_id) REFERENCES jobs (id) DEFERRABLE;
