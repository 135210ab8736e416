-- The columns count changes of one job or one bid, and `estimated_duration_days` has the type of the column in `bids`.
CREATE TABLE "bid_revisions" (
	"bid_id" text collate "C" NOT NULL,
	-- squawk-ignore prefer-bigint-over-int
	"version" integer NOT NULL,
	"amount" numeric(12, 2) NOT NULL,
	-- squawk-ignore prefer-bigint-over-int
	"estimated_duration_days" integer,
	"message" text,
	"proposed_start_date" date,
	"materials_included" boolean,
	"payment_terms" text,
	"replaced_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "bid_revisions_bid_id_version_pk" PRIMARY KEY("bid_id","version")
);
--> statement-breakpoint
CREATE TRIGGER bid_revisions_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON bid_revisions
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();--> statement-breakpoint
-- squawk-ignore prefer-bigint-over-int
ALTER TABLE "bids" ADD COLUMN "version" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
-- squawk-ignore prefer-bigint-over-int
ALTER TABLE "bids" ADD COLUMN "job_public_edit_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- squawk-ignore prefer-bigint-over-int
ALTER TABLE "jobs" ADD COLUMN "public_edit_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- squawk-ignore prefer-bigint-over-int
ALTER TABLE "jobs" ADD COLUMN "reopening_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- squawk-ignore prefer-bigint-over-int
ALTER TABLE "jobs" ADD COLUMN "change_request_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "bid_revisions" ADD CONSTRAINT "bid_revisions_bid_id_bids_id_fk" FOREIGN KEY ("bid_id") REFERENCES "public"."bids"("id") ON DELETE no action ON UPDATE no action;
