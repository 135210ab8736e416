CREATE TABLE "notification_cursor" (
	"is_only_row" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"stored_up_to" bigint NOT NULL,
	"mailed_up_to" bigint NOT NULL,
	CONSTRAINT "notification_cursor_has_one_row" CHECK ("notification_cursor"."is_only_row"),
	CONSTRAINT "notification_cursor_stores_before_it_mails" CHECK ("notification_cursor"."mailed_up_to" <= "notification_cursor"."stored_up_to")
);
--> statement-breakpoint
CREATE TABLE "notification_settings" (
	"user_id" text collate "C" NOT NULL,
	"type" text NOT NULL,
	"channel" text NOT NULL,
	CONSTRAINT "notification_settings_user_id_type_pk" PRIMARY KEY("user_id","type"),
	CONSTRAINT "notification_settings_channel" CHECK ("notification_settings"."channel" in ('now', 'daily', 'off'))
);
--> statement-breakpoint
CREATE TABLE "notifications" (
	"user_id" text collate "C" NOT NULL,
	"position" bigint NOT NULL,
	"job_id" text collate "C",
	"is_emailed_later" boolean DEFAULT false NOT NULL,
	CONSTRAINT "notifications_user_id_position_pk" PRIMARY KEY("user_id","position")
);
--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "notifications_read_up_to" bigint DEFAULT '0' NOT NULL;--> statement-breakpoint
ALTER TABLE "mails" ADD COLUMN "type" text;--> statement-breakpoint
ALTER TABLE "mails" ADD COLUMN "job_id" text collate "C";--> statement-breakpoint
ALTER TABLE "mails" ADD COLUMN "from_position" bigint;--> statement-breakpoint
ALTER TABLE "mails" ADD COLUMN "up_to_position" bigint;--> statement-breakpoint
ALTER TABLE "notification_settings" ADD CONSTRAINT "notification_settings_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "notifications_of_job" ON "notifications" USING btree ("user_id","job_id") WHERE "notifications"."job_id" is not null;--> statement-breakpoint
CREATE INDEX "notifications_to_email_later" ON "notifications" USING btree ("user_id","position") WHERE "notifications"."is_emailed_later";--> statement-breakpoint
-- Earlier events aren't notified.
INSERT INTO "notification_cursor" ("stored_up_to", "mailed_up_to")
SELECT coalesce(max("position"), 0), coalesce(max("position"), 0) FROM "events";
