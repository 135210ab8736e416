ALTER TABLE "admin_actions" ADD COLUMN "other_user_id" text collate "C";--> statement-breakpoint
ALTER TABLE "admin_actions" ADD COLUMN "until" timestamp (3) with time zone;--> statement-breakpoint
-- Adjustments are integers.
-- squawk-ignore prefer-bigint-over-int
ALTER TABLE "admin_actions" ADD COLUMN "amount" integer;--> statement-breakpoint
ALTER TABLE "admin_actions" ADD COLUMN "decision" text;--> statement-breakpoint
-- A decision about a job concerns both parties. This sets the second one, even for releases that don't know the column.
CREATE FUNCTION set_other_user_of_admin_action() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.other_user_id := (SELECT c.user_id FROM jobs j JOIN contractors c ON c.id = j.awarded_contractor_id
    WHERE j.id = NEW.job_id);
  RETURN NEW;
END
$$;--> statement-breakpoint
CREATE TRIGGER admin_actions_set_other_user BEFORE INSERT ON admin_actions
  FOR EACH ROW WHEN (NEW.job_id IS NOT NULL) EXECUTE FUNCTION set_other_user_of_admin_action();--> statement-breakpoint
CREATE TRIGGER admin_actions_keep_their_details BEFORE UPDATE OF until, amount ON admin_actions
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();--> statement-breakpoint
-- The next migration sets it once if it's missing.
CREATE TRIGGER admin_actions_keep_their_other_user BEFORE UPDATE OF other_user_id ON admin_actions
  FOR EACH ROW WHEN (OLD.other_user_id IS NOT NULL) EXECUTE FUNCTION refuse_rewriting();--> statement-breakpoint
CREATE TRIGGER admin_actions_keep_their_decisions BEFORE UPDATE OF decision ON admin_actions
  FOR EACH ROW WHEN (NEW.decision IS NOT NULL) EXECUTE FUNCTION refuse_rewriting();
