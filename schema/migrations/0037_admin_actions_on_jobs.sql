ALTER TABLE "admin_actions" ADD COLUMN "job_id" text collate "C";--> statement-breakpoint
-- The job of an action can't be changed either.
CREATE TRIGGER admin_actions_keep_their_jobs BEFORE UPDATE OF job_id ON admin_actions
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
