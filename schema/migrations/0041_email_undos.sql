ALTER TABLE "users" ADD COLUMN "email_undo" text;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "email_undo_address" text;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "profile_edited_at" timestamp (3) with time zone;