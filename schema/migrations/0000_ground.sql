CREATE TYPE "public"."user_type" AS ENUM('homeowner', 'contractor', 'admin');--> statement-breakpoint
CREATE TYPE "public"."transfer_reason" AS ENUM('signup_bonus', 'referral_bonus', 'publish', 'urgency_raise', 'publish_refund', 'adjustment');--> statement-breakpoint
CREATE TABLE "contractors" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"user_id" text collate "C" NOT NULL,
	"company_name" text,
	"business_type" text,
	"license_number" text,
	"license_state" text,
	"insurance_provider" text,
	"insurance_policy_number" text,
	"years_in_business" integer,
	"service_areas" text[] DEFAULT '{}' NOT NULL,
	"specialties" text[] DEFAULT '{}' NOT NULL,
	"bio" text,
	"website" text,
	"verified" boolean DEFAULT false NOT NULL,
	"completed_jobs" integer DEFAULT 0 NOT NULL,
	"rating_sum" integer DEFAULT 0 NOT NULL,
	"rating_count" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "contractors_userId_unique" UNIQUE("user_id"),
	CONSTRAINT "contractors_counts_are_sound" CHECK ("contractors"."completed_jobs" >= 0 and "contractors"."rating_count" >= 0 and "contractors"."rating_sum" between "contractors"."rating_count" and 5 * "contractors"."rating_count")
);
--> statement-breakpoint
CREATE TABLE "homeowners" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"user_id" text collate "C" NOT NULL,
	"address_line1" text,
	"address_line2" text,
	"city" text,
	"state" text,
	"zip_code" text,
	"country" text,
	"property_type" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "homeowners_userId_unique" UNIQUE("user_id")
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"user_type" "user_type" NOT NULL,
	"first_name" text NOT NULL,
	"last_name" text NOT NULL,
	"phone" text,
	"profile_picture_url" text,
	"password_hash" text NOT NULL,
	"referral_code" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "users_email_taken" UNIQUE("email"),
	CONSTRAINT "users_referral_code_taken" UNIQUE("referral_code"),
	CONSTRAINT "users_email_is_normal" CHECK ("users"."email" = lower("users"."email") and "users"."email" = btrim("users"."email"))
);
--> statement-breakpoint
CREATE TABLE "token_balances" (
	"user_id" text collate "C" PRIMARY KEY NOT NULL,
	"balance" integer DEFAULT 0 NOT NULL,
	"held" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "token_balances_cover_what_is_held" CHECK (0 <= "token_balances"."held" and "token_balances"."held" <= "token_balances"."balance")
);
--> statement-breakpoint
CREATE TABLE "token_transfers" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"from_account" text NOT NULL,
	"to_account" text NOT NULL,
	"amount" integer NOT NULL,
	"reason" "transfer_reason" NOT NULL,
	"user_id" text collate "C" NOT NULL,
	"job_id" text collate "C",
	"bid_id" text collate "C",
	"referral_user_id" text collate "C",
	"actor_id" text collate "C",
	"note" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "token_transfers_amount_is_positive" CHECK ("token_transfers"."amount" > 0),
	CONSTRAINT "token_transfers_touch_one_person" CHECK (("token_transfers"."from_account" in ('issuance', 'fees') and "token_transfers"."to_account" = "token_transfers"."user_id") or ("token_transfers"."to_account" in ('issuance', 'fees') and "token_transfers"."from_account" = "token_transfers"."user_id"))
);
--> statement-breakpoint
CREATE TABLE "refresh_tokens" (
	"hash" text PRIMARY KEY NOT NULL,
	"session_id" text collate "C" NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"used_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"user_id" text collate "C" NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"ends_at" timestamp (3) with time zone NOT NULL,
	"revoked_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "contractors" ADD CONSTRAINT "contractors_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "homeowners" ADD CONSTRAINT "homeowners_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "token_balances" ADD CONSTRAINT "token_balances_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "token_transfers" ADD CONSTRAINT "token_transfers_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "token_transfers" ADD CONSTRAINT "token_transfers_referral_user_id_users_id_fk" FOREIGN KEY ("referral_user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "token_transfers" ADD CONSTRAINT "token_transfers_actor_id_users_id_fk" FOREIGN KEY ("actor_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refresh_tokens" ADD CONSTRAINT "refresh_tokens_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "users_newest" ON "users" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "token_transfers_history" ON "token_transfers" USING btree ("user_id","created_at","id");--> statement-breakpoint
CREATE INDEX "refresh_tokens_of_session" ON "refresh_tokens" USING btree ("session_id");--> statement-breakpoint
CREATE INDEX "sessions_of_user" ON "sessions" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sessions_by_end" ON "sessions" USING btree ("ends_at");