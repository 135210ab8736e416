DROP INDEX "users_words";--> statement-breakpoint
CREATE INDEX "users_words" ON "users" USING gin (lower("first_name" || ' ' || "last_name" || chr(1) || "email" || chr(1) || coalesce("phone", '')
    || chr(1) || regexp_replace(coalesce("phone", ''), '[^0-9]', '', 'g')) gin_trgm_ops);