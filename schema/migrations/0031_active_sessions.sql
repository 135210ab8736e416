ALTER TABLE "sessions" ADD COLUMN "program" text;
