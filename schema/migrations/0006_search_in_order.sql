-- For an index on both words and days. A role that may create pg_trgm may also create this extension.
CREATE EXTENSION IF NOT EXISTS btree_gin;--> statement-breakpoint
DROP INDEX "job_search_title";--> statement-breakpoint
DROP INDEX "job_search_description";--> statement-breakpoint
ALTER TABLE "job_search" ADD COLUMN "created_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "job_search" ADD COLUMN "words" text;--> statement-breakpoint
UPDATE "job_search" s SET "created_at" = j.created_at, "words" = lower(j.title || chr(1) || j.description) FROM "jobs" j WHERE j.id = s.job_id;--> statement-breakpoint
ALTER TABLE "job_search" ALTER COLUMN "created_at" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "job_search" ALTER COLUMN "words" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "job_search" DROP COLUMN "title";--> statement-breakpoint
ALTER TABLE "job_search" DROP COLUMN "description";--> statement-breakpoint
CREATE INDEX "job_search_newest" ON "job_search" USING btree ("created_at","job_id");--> statement-breakpoint
CREATE INDEX "job_search_words" ON "job_search" USING gin ((("created_at" at time zone 'UTC')::date),"words" gin_trgm_ops);--> statement-breakpoint
CREATE OR REPLACE FUNCTION copy_job_texts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO job_search (job_id, created_at, words) VALUES (NEW.id, NEW.created_at, lower(NEW.title || chr(1) || NEW.description))
  ON CONFLICT (job_id) DO UPDATE SET words = excluded.words;
  RETURN NULL;
END
$$;
