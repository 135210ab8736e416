CREATE TABLE "admin_actions" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"admin_id" text collate "C" NOT NULL,
	"action" text NOT NULL,
	"user_id" text collate "C" NOT NULL,
	"reason" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "admin_actions" ADD CONSTRAINT "admin_actions_admin_id_users_id_fk" FOREIGN KEY ("admin_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "admin_actions" ADD CONSTRAINT "admin_actions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
-- Of an admin's action, only the reason can be erased.
CREATE TRIGGER admin_actions_are_append_only BEFORE UPDATE OF id, admin_id, action, user_id, created_at OR DELETE OR TRUNCATE ON admin_actions
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();--> statement-breakpoint
CREATE TRIGGER admin_actions_keep_their_reasons BEFORE UPDATE OF reason ON admin_actions
  FOR EACH ROW WHEN (NEW.reason IS NOT NULL) EXECUTE FUNCTION refuse_rewriting();
