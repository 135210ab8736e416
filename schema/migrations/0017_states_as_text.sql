ALTER TABLE "jobs" DROP CONSTRAINT "jobs_live_bids_only_while_open";--> statement-breakpoint
ALTER TABLE "jobs" DROP CONSTRAINT "jobs_award_fits_the_state";--> statement-breakpoint
ALTER TABLE "jobs" DROP CONSTRAINT "jobs_published_whole";--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_live_bids_fit_the_state" CHECK ("jobs"."live_bid_count" = 0 or "jobs"."status"::text in ('open'));--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_award_fits_the_state" CHECK (case
      when "jobs"."status"::text in ('draft', 'open') then "jobs"."awarded_bid_id" is null
      when "jobs"."status"::text in ('completed', 'cancelled') then true
      else "jobs"."awarded_bid_id" is not null end);--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_published_whole" CHECK ("jobs"."status"::text in ('draft', 'completed') or ("jobs"."category" is not null and "jobs"."urgency" is not null and "jobs"."address_line1" is not null and "jobs"."city" is not null and "jobs"."state" is not null));