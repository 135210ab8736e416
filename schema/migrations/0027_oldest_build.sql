CREATE TABLE "oldest_build" (
	"only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"newest_migration" bigint NOT NULL,
	CONSTRAINT "oldest_build_is_one" CHECK ("oldest_build"."only")
);
--> statement-breakpoint
-- The previous release knows the migrations up to 0026_jobs_of_awardee.
INSERT INTO "oldest_build" ("newest_migration") VALUES (1795675921889);
