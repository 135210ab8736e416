DROP INDEX "job_search_newest";--> statement-breakpoint
DROP INDEX "job_search_words";--> statement-breakpoint
CREATE INDEX "job_search_words" ON "job_search" USING gin ("words" gin_trgm_ops);