-- Indexes need a function that never answers otherwise for the same list, which Postgres does not promise of its own.
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