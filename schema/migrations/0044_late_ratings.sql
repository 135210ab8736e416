-- A rating can come after the approval. It's added to the approval's review, if there is one. A new review text replaces the old one.
CREATE OR REPLACE FUNCTION copy_review() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO reviews (id, job_id, contractor_id, author_id, rating, review, created_at)
  SELECT 'rev_' || substr(NEW.id, 5), NEW.job_id, j.awarded_contractor_id, NEW.actor_id, (NEW.data->>'rating')::integer, NEW.data->>'review', NEW.occurred_at
  FROM jobs j
  WHERE j.id = NEW.job_id AND (NEW.data->>'rating' IS NOT NULL OR NEW.data->>'review' IS NOT NULL)
  ON CONFLICT (job_id) DO UPDATE SET rating = excluded.rating, review = coalesce(excluded.review, reviews.review);
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER late_ratings_are_reviews AFTER INSERT ON events FOR EACH ROW
  WHEN (NEW.type = 'job.reviewed') EXECUTE FUNCTION copy_review();
--> statement-breakpoint
-- A review without a rating can gain one, and can change its text with it. Nothing else can change.
CREATE OR REPLACE TRIGGER reviews_are_append_only BEFORE DELETE OR TRUNCATE ON reviews
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
--> statement-breakpoint
CREATE TRIGGER reviews_only_gain_a_rating BEFORE UPDATE ON reviews FOR EACH ROW
  WHEN (OLD.rating IS NOT NULL OR NEW.rating IS NULL
    OR (NEW.id, NEW.job_id, NEW.contractor_id, NEW.author_id, NEW.created_at)
      IS DISTINCT FROM (OLD.id, OLD.job_id, OLD.contractor_id, OLD.author_id, OLD.created_at))
  EXECUTE FUNCTION refuse_rewriting();
