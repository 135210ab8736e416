CREATE TRIGGER events_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
--> statement-breakpoint
-- Copies a job's texts to the table of searchable jobs. It's a trigger, so no statement can forget it.
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
-- The two tables refer to each other, so one of the references is added after both exist.
ALTER TABLE bids ADD CONSTRAINT bids_are_on_a_job FOREIGN KEY (job_id) REFERENCES jobs (id) DEFERRABLE;
