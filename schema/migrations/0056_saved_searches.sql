CREATE TABLE "saved_searches" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"contractor_id" text collate "C" NOT NULL,
	"name" text NOT NULL,
	"alert" text NOT NULL,
	"search" text,
	"categories" text[] NOT NULL,
	"urgency" "urgency",
	"budget_min" numeric(12, 2),
	"budget_max" numeric(12, 2),
	"near_zip" text,
	"near_city" text,
	"near_state" text,
	"within_miles" double precision,
	"latitude" double precision,
	"longitude" double precision,
	"matches_after" bigint NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "saved_searches_alert" CHECK ("saved_searches"."alert" in ('now', 'daily', 'off')),
	CONSTRAINT "saved_searches_are_narrow" CHECK ("saved_searches"."categories" <> '{}' or "saved_searches"."latitude" is not null or "saved_searches"."search" is not null),
	CONSTRAINT "saved_searches_place_is_whole" CHECK (num_nulls("saved_searches"."latitude", "saved_searches"."longitude", "saved_searches"."within_miles") in (0, 3))
);
--> statement-breakpoint
CREATE TABLE "search_cursor" (
	"is_only_row" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"matched_up_to" bigint NOT NULL,
	"mailed_up_to" bigint NOT NULL,
	CONSTRAINT "search_cursor_has_one_row" CHECK ("search_cursor"."is_only_row"),
	CONSTRAINT "search_cursor_matches_before_it_mails" CHECK ("search_cursor"."mailed_up_to" <= "search_cursor"."matched_up_to")
);
--> statement-breakpoint
ALTER TABLE "notifications" ADD COLUMN "match_alert" text;--> statement-breakpoint
ALTER TABLE "webhook_cursor" ADD COLUMN "matched_position" bigint DEFAULT '0' NOT NULL;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD COLUMN "position" bigint;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD COLUMN "previous_position" bigint;--> statement-breakpoint
ALTER TABLE "webhook_endpoints" ADD COLUMN "last_position" bigint;--> statement-breakpoint
ALTER TABLE "webhook_endpoints" ADD COLUMN "waits_for_matching" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "saved_searches" ADD CONSTRAINT "saved_searches_contractor_id_contractors_id_fk" FOREIGN KEY ("contractor_id") REFERENCES "public"."contractors"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "saved_searches_of_contractor" ON "saved_searches" USING btree ("contractor_id","created_at","id");--> statement-breakpoint
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_match_alert" CHECK ("notifications"."match_alert" in ('now', 'daily', 'off')) NOT VALID;--> statement-breakpoint
-- Earlier events don't match any search.
INSERT INTO "search_cursor" ("matched_up_to", "mailed_up_to") SELECT "stored_up_to", "stored_up_to" FROM "notification_cursor";
