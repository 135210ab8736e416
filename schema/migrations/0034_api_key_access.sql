CREATE TYPE "public"."api_key_access" AS ENUM('read', 'full');--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "access" "api_key_access" DEFAULT 'full' NOT NULL;