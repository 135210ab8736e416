CREATE TABLE "open_job_search" (
	"job_id" text collate "C" PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"words" text NOT NULL,
	"town" "point"
);
--> statement-breakpoint
ALTER TABLE "open_job_search" ADD CONSTRAINT "open_job_search_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
INSERT INTO "open_job_search" ("job_id", "created_at", "words", "town") SELECT s.job_id, s.created_at, s.words, s.town FROM "job_search" s JOIN "jobs" j ON j.id = s.job_id WHERE j.status = 'open';--> statement-breakpoint
CREATE INDEX "open_job_search_words" ON "open_job_search" USING gin ("words" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "open_job_search_town" ON "open_job_search" USING gist ("town");--> statement-breakpoint
CREATE FUNCTION copy_while_open() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.status = 'open' THEN
    INSERT INTO open_job_search (job_id, created_at, words, town)
    SELECT job_id, created_at, words, town FROM job_search WHERE job_id = NEW.id;
  ELSE
    DELETE FROM open_job_search WHERE job_id = NEW.id;
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
-- Triggers run in the order of their names, so jobs_are_searchable has already inserted the row that this one copies.
CREATE TRIGGER jobs_are_searchable_while_open AFTER INSERT ON jobs FOR EACH ROW
  WHEN (NEW.status = 'open') EXECUTE FUNCTION copy_while_open();
--> statement-breakpoint
CREATE TRIGGER jobs_become_searchable_while_open AFTER UPDATE OF status ON jobs FOR EACH ROW
  WHEN ((OLD.status = 'open') <> (NEW.status = 'open')) EXECUTE FUNCTION copy_while_open();
--> statement-breakpoint
CREATE FUNCTION copy_to_open() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE open_job_search SET created_at = NEW.created_at, words = NEW.words, town = NEW.town WHERE job_id = NEW.job_id;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER open_jobs_stay_searchable AFTER UPDATE ON job_search FOR EACH ROW EXECUTE FUNCTION copy_to_open();
