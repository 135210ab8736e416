-- A statement is planned once for all users. For an average user, it would be cheapest to read all of their transfers and
-- sort them. But some users have thousands. If the planner believes that most users do, it reads one page in the index's
-- order.
ALTER TABLE "token_transfers" ALTER COLUMN "user_id" SET (n_distinct = 1000);--> statement-breakpoint
ANALYZE "token_transfers" ("user_id");
