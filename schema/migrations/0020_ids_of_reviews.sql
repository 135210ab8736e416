-- No two objects may have the same ID. Until now, a review had the ID of the event that it was copied from.
CREATE OR REPLACE FUNCTION copy_review() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO reviews (id, job_id, contractor_id, author_id, rating, review, created_at)
  SELECT 'rev_' || substr(NEW.id, 5), NEW.job_id, j.awarded_contractor_id, NEW.actor_id, (NEW.data->>'rating')::integer, NEW.data->>'review', NEW.occurred_at
  FROM jobs j
  WHERE j.id = NEW.job_id AND (NEW.data->>'rating' IS NOT NULL OR NEW.data->>'review' IS NOT NULL);
  RETURN NULL;
END
$$;
--> statement-breakpoint
ALTER TABLE "reviews" DISABLE TRIGGER "reviews_are_append_only";--> statement-breakpoint
UPDATE "reviews" SET "id" = 'rev_' || substr("id", 5);--> statement-breakpoint
ALTER TABLE "reviews" ENABLE TRIGGER "reviews_are_append_only";
