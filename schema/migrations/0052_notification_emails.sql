ALTER TABLE "mails" ADD COLUMN "positions" bigint[];--> statement-breakpoint
-- squawk-ignore prefer-bigint-over-int
ALTER TABLE "mails" ADD COLUMN "left_out_count" integer;--> statement-breakpoint
ALTER TABLE "mails" ADD COLUMN "sent_at" timestamp (3) with time zone;--> statement-breakpoint
-- The table has one row.
-- squawk-ignore adding-field-with-default
ALTER TABLE "notification_cursor" ADD COLUMN "digested_on" date DEFAULT (now() at time zone 'UTC')::date NOT NULL;--> statement-breakpoint
ALTER TABLE "notification_cursor" ADD COLUMN "digest_up_to" bigint;