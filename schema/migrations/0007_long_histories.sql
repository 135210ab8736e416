-- A statement is planned once for everybody, and for the average person it would be cheapest to read all of their transfers and sort them. Some have
-- thousands: to believe that many have makes the planner read the index in its order, and no further than a page.
ALTER TABLE "token_transfers" ALTER COLUMN "user_id" SET (n_distinct = 1000);--> statement-breakpoint
ANALYZE "token_transfers" ("user_id");
