ALTER TABLE "jobs" ADD COLUMN "rating" integer;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "review" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_review_fits_the_state" CHECK (("jobs"."rating" is null and "jobs"."review" is null) or ("jobs"."status" = 'completed' and "jobs"."awarded_bid_id" is not null));--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_rating_is_sound" CHECK ("jobs"."rating" between 1 and 5);--> statement-breakpoint
UPDATE jobs SET rating = r.rating, review = r.review FROM reviews r WHERE r.job_id = jobs.id;
