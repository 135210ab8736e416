CREATE TABLE "unawarded_job_search" (
	"job_id" text collate "C" PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"words" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "unawarded_job_search" ADD CONSTRAINT "unawarded_job_search_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
INSERT INTO "unawarded_job_search" SELECT s.job_id, s.created_at, s.words FROM "job_search" s JOIN "jobs" j ON j.id = s.job_id WHERE j.status IN ('draft', 'open');--> statement-breakpoint
CREATE INDEX "unawarded_job_search_words" ON "unawarded_job_search" USING gin ("words" gin_trgm_ops);--> statement-breakpoint
CREATE OR REPLACE FUNCTION copy_job_texts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO job_search (job_id, created_at, words) VALUES (NEW.id, NEW.created_at, lower(NEW.title || chr(1) || NEW.description))
  ON CONFLICT (job_id) DO UPDATE SET words = excluded.words;
  IF NEW.status IN ('draft', 'open') THEN
    INSERT INTO unawarded_job_search SELECT job_id, created_at, words FROM job_search WHERE job_id = NEW.id
    ON CONFLICT (job_id) DO UPDATE SET words = excluded.words;
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE FUNCTION copy_unawarded_texts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.status IN ('draft', 'open') THEN
    INSERT INTO unawarded_job_search SELECT job_id, created_at, words FROM job_search WHERE job_id = NEW.id;
  ELSE
    DELETE FROM unawarded_job_search WHERE job_id = NEW.id;
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
-- By its name it comes before jobs_stay_searchable: an update that also changes the texts then finds the row.
CREATE TRIGGER jobs_are_searchable_until_awarded AFTER UPDATE OF status ON jobs FOR EACH ROW
  WHEN ((OLD.status IN ('draft', 'open')) <> (NEW.status IN ('draft', 'open'))) EXECUTE FUNCTION copy_unawarded_texts();
