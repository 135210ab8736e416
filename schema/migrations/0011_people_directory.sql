-- An index needs an immutable function, and Postgres's own functions for this aren't marked as immutable.
CREATE FUNCTION lower_all(texts text[]) RETURNS text[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN array(SELECT lower(one) FROM unnest(texts) AS one);
END
$$;
--> statement-breakpoint
ALTER TABLE "contractors" ADD COLUMN "rating_rank" integer GENERATED ALWAYS AS (case when rating_count = 0 then 0 else (round(rating_sum::numeric / rating_count, 2) * 100)::integer end) STORED NOT NULL;--> statement-breakpoint
CREATE INDEX "contractors_newest" ON "contractors" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "contractors_best_rated" ON "contractors" USING btree ("rating_rank","rating_count","id");--> statement-breakpoint
CREATE INDEX "contractors_most_completed" ON "contractors" USING btree ("completed_jobs","rating_rank","rating_count","id");--> statement-breakpoint
CREATE INDEX "contractors_verified_newest" ON "contractors" USING btree ("verified","created_at","id");--> statement-breakpoint
CREATE INDEX "contractors_verified_best_rated" ON "contractors" USING btree ("verified","rating_rank","rating_count","id");--> statement-breakpoint
CREATE INDEX "contractors_verified_most_completed" ON "contractors" USING btree ("verified","completed_jobs","rating_rank","rating_count","id");--> statement-breakpoint
CREATE INDEX "contractors_terms" ON "contractors" USING gin (lower(coalesce("company_name", '') || chr(1) || coalesce("bio", '')) gin_trgm_ops,lower_all("specialties"),lower_all("service_areas"));--> statement-breakpoint
CREATE INDEX "users_of_type" ON "users" USING btree ("user_type","created_at","id");--> statement-breakpoint
CREATE INDEX "users_words" ON "users" USING gin (lower("first_name" || ' ' || "last_name" || chr(1) || "email") gin_trgm_ops);
--> statement-breakpoint
CREATE TABLE "reviews" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"job_id" text collate "C" NOT NULL,
	"contractor_id" text collate "C" NOT NULL,
	"author_id" text collate "C" NOT NULL,
	"rating" integer,
	"review" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "reviews_one_a_job" UNIQUE("job_id"),
	CONSTRAINT "reviews_say_something" CHECK ("reviews"."rating" is not null or "reviews"."review" is not null)
);
--> statement-breakpoint
ALTER TABLE "reviews" ADD CONSTRAINT "reviews_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "reviews" ADD CONSTRAINT "reviews_contractor_id_contractors_id_fk" FOREIGN KEY ("contractor_id") REFERENCES "public"."contractors"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "reviews" ADD CONSTRAINT "reviews_author_id_users_id_fk" FOREIGN KEY ("author_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "reviews_of_contractor" ON "reviews" USING btree ("contractor_id","created_at","id");--> statement-breakpoint
-- Some contractors have thousands of reviews. If the planner believes that most do, it reads one page from the index.
ALTER TABLE "reviews" ALTER COLUMN "contractor_id" SET (n_distinct = 1000);--> statement-breakpoint
-- Creates a review from the event of an approval. It's a trigger, so no statement can forget it.
CREATE FUNCTION copy_review() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO reviews (id, job_id, contractor_id, author_id, rating, review, created_at)
  SELECT NEW.id, NEW.job_id, j.awarded_contractor_id, NEW.actor_id, (NEW.data->>'rating')::integer, NEW.data->>'review', NEW.occurred_at
  FROM jobs j
  WHERE j.id = NEW.job_id AND (NEW.data->>'rating' IS NOT NULL OR NEW.data->>'review' IS NOT NULL);
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER approvals_are_reviews AFTER INSERT ON events FOR EACH ROW
  WHEN (NEW.type = 'job.approved') EXECUTE FUNCTION copy_review();
--> statement-breakpoint
INSERT INTO reviews (id, job_id, contractor_id, author_id, rating, review, created_at)
SELECT e.id, e.job_id, j.awarded_contractor_id, e.actor_id, (e.data->>'rating')::integer, e.data->>'review', e.occurred_at
FROM events e JOIN jobs j ON j.id = e.job_id
WHERE e.type = 'job.approved' AND (e.data->>'rating' IS NOT NULL OR e.data->>'review' IS NOT NULL);
--> statement-breakpoint
CREATE TRIGGER reviews_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON reviews
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
--> statement-breakpoint
CREATE INDEX "contractors_verified_users" ON "contractors" USING btree ("verified","created_at","user_id");
