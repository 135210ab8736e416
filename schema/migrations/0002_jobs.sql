CREATE EXTENSION IF NOT EXISTS pg_trgm;--> statement-breakpoint
CREATE TYPE "public"."bid_status" AS ENUM('pending', 'viewed', 'shortlisted', 'accepted', 'rejected', 'withdrawn');--> statement-breakpoint
CREATE TYPE "public"."hold_status" AS ENUM('active', 'released');--> statement-breakpoint
CREATE TYPE "public"."job_status" AS ENUM('draft', 'open', 'awarded', 'in_progress', 'in_review', 'completed', 'disputed', 'escalated', 'decision_reached', 'appealed', 'cancelled');--> statement-breakpoint
CREATE TYPE "public"."urgency" AS ENUM('standard', 'priority', 'urgent');--> statement-breakpoint
CREATE TABLE "bids" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"job_id" text collate "C" NOT NULL,
	"contractor_id" text collate "C" NOT NULL,
	"status" "bid_status" DEFAULT 'pending' NOT NULL,
	"amount" numeric(12, 2) NOT NULL,
	"estimated_duration_days" integer,
	"message" text,
	"proposed_start_date" date,
	"materials_included" boolean,
	"payment_terms" text,
	"guaranteed_view" boolean DEFAULT false NOT NULL,
	"hold_id" text collate "C",
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"submitted_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"job_created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "bids_whole_key" UNIQUE("id","job_id","contractor_id"),
	CONSTRAINT "bids_amount_is_positive" CHECK ("bids"."amount" > 0),
	CONSTRAINT "bids_guarantee_has_a_hold" CHECK ("bids"."guaranteed_view" = ("bids"."hold_id" is not null))
);
--> statement-breakpoint
CREATE TABLE "holds" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"bid_id" text collate "C" NOT NULL,
	"job_id" text collate "C" NOT NULL,
	"user_id" text collate "C" NOT NULL,
	"amount" integer NOT NULL,
	"status" "hold_status" DEFAULT 'active' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"released_at" timestamp (3) with time zone,
	CONSTRAINT "holds_bidId_unique" UNIQUE("bid_id"),
	CONSTRAINT "holds_amount_is_positive" CHECK ("holds"."amount" > 0),
	CONSTRAINT "holds_release_is_timed" CHECK (("holds"."status" = 'released') = ("holds"."released_at" is not null))
);
--> statement-breakpoint
CREATE TABLE "events" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"job_id" text collate "C" NOT NULL,
	"sequence" integer NOT NULL,
	"type" text NOT NULL,
	"actor_id" text collate "C",
	"bidder_id" text collate "C",
	"from_status" "job_status",
	"to_status" "job_status",
	"occurred_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"data" jsonb DEFAULT '{}'::jsonb NOT NULL,
	CONSTRAINT "events_are_numbered_from_one" CHECK ("events"."sequence" >= 1)
);
--> statement-breakpoint
CREATE TABLE "job_search" (
	"job_id" text collate "C" PRIMARY KEY NOT NULL,
	"title" text NOT NULL,
	"description" text NOT NULL,
	"town" "point"
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"homeowner_id" text collate "C" NOT NULL,
	"status" "job_status" DEFAULT 'draft' NOT NULL,
	"title" text NOT NULL,
	"description" text NOT NULL,
	"category" text,
	"budget_min" numeric(12, 2),
	"budget_max" numeric(12, 2),
	"urgency" "urgency",
	"address_line1" text,
	"address_line2" text,
	"city" text,
	"state" text,
	"zip_code" text,
	"country" text,
	"latitude" double precision,
	"longitude" double precision,
	"desired_start_date" date,
	"desired_completion_date" date,
	"requirements" text,
	"awarded_bid_id" text collate "C",
	"awarded_contractor_id" text collate "C",
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"highest_budget_min" numeric(12, 2),
	"highest_budget_max" numeric(12, 2),
	"most_tokens_paid" integer DEFAULT 0 NOT NULL,
	"completion_date_at_check_in" date,
	"event_count" integer DEFAULT 0 NOT NULL,
	"bid_count" integer DEFAULT 0 NOT NULL,
	"live_bid_count" integer DEFAULT 0 NOT NULL,
	"bids_ever" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "jobs_award_fits_the_state" CHECK (case
      when "jobs"."status" in ('draft', 'open') then "jobs"."awarded_bid_id" is null
      when "jobs"."status" in ('completed', 'cancelled') then true
      else "jobs"."awarded_bid_id" is not null end),
	CONSTRAINT "jobs_award_is_whole" CHECK (("jobs"."awarded_bid_id" is null) = ("jobs"."awarded_contractor_id" is null)),
	CONSTRAINT "jobs_budget_is_sound" CHECK ("jobs"."budget_min" >= 0 and "jobs"."budget_max" >= 0 and "jobs"."budget_min" <= "jobs"."budget_max"),
	CONSTRAINT "jobs_dates_are_sound" CHECK ("jobs"."desired_start_date" <= "jobs"."desired_completion_date"),
	CONSTRAINT "jobs_published_whole" CHECK ("jobs"."status" in ('draft', 'completed') or ("jobs"."category" is not null and "jobs"."urgency" is not null and "jobs"."address_line1" is not null and "jobs"."city" is not null and "jobs"."state" is not null)),
	CONSTRAINT "jobs_counts_are_sound" CHECK (0 <= "jobs"."live_bid_count" and "jobs"."live_bid_count" <= "jobs"."bid_count" and "jobs"."bid_count" <= "jobs"."bids_ever"),
	CONSTRAINT "jobs_live_bids_only_while_open" CHECK ("jobs"."live_bid_count" = 0 or "jobs"."status" = 'open')
);
--> statement-breakpoint
ALTER TABLE "bids" ADD CONSTRAINT "bids_contractor_id_contractors_id_fk" FOREIGN KEY ("contractor_id") REFERENCES "public"."contractors"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "holds" ADD CONSTRAINT "holds_bid_id_bids_id_fk" FOREIGN KEY ("bid_id") REFERENCES "public"."bids"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "holds" ADD CONSTRAINT "holds_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "events" ADD CONSTRAINT "events_actor_id_users_id_fk" FOREIGN KEY ("actor_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "job_search" ADD CONSTRAINT "job_search_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_homeowner_id_homeowners_id_fk" FOREIGN KEY ("homeowner_id") REFERENCES "public"."homeowners"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_awarded_bid_is_on_the_job" FOREIGN KEY ("awarded_bid_id","id","awarded_contractor_id") REFERENCES "public"."bids"("id","job_id","contractor_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "bids_one_for_each_contractor" ON "bids" USING btree ("job_id","contractor_id") WHERE "bids"."status" <> 'withdrawn';--> statement-breakpoint
CREATE UNIQUE INDEX "bids_one_accepted" ON "bids" USING btree ("job_id") WHERE "bids"."status" = 'accepted';--> statement-breakpoint
CREATE INDEX "bids_on_job" ON "bids" USING btree ("job_id","guaranteed_view","created_at","id");--> statement-breakpoint
CREATE INDEX "bids_of_contractor" ON "bids" USING btree ("contractor_id","created_at","id");--> statement-breakpoint
CREATE INDEX "bids_jobs_of_contractor" ON "bids" USING btree ("contractor_id","job_created_at","job_id");--> statement-breakpoint
CREATE INDEX "holds_on_job" ON "holds" USING btree ("job_id");--> statement-breakpoint
CREATE INDEX "holds_active_of_user" ON "holds" USING btree ("user_id") WHERE "holds"."status" = 'active';--> statement-breakpoint
CREATE UNIQUE INDEX "events_in_order" ON "events" USING btree ("job_id","sequence");--> statement-breakpoint
CREATE INDEX "job_search_title" ON "job_search" USING gin ("title" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "job_search_description" ON "job_search" USING gin ("description" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "job_search_town" ON "job_search" USING gist ("town");--> statement-breakpoint
CREATE INDEX "jobs_newest" ON "jobs" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "jobs_of_homeowner" ON "jobs" USING btree ("homeowner_id","created_at","id");--> statement-breakpoint
CREATE INDEX "jobs_open" ON "jobs" USING btree ("created_at","id") WHERE "jobs"."status" = 'open';--> statement-breakpoint
CREATE INDEX "jobs_awarded_to" ON "jobs" USING btree ("awarded_contractor_id") WHERE "jobs"."awarded_contractor_id" is not null;