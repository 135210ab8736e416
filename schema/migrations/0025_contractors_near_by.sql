DROP INDEX "contractors_terms";--> statement-breakpoint
CREATE INDEX "contractors_service_areas" ON "contractors" USING gin (lower_all("service_areas")) WITH (fastupdate=false);--> statement-breakpoint
CREATE INDEX "contractors_terms" ON "contractors" USING gin (lower("person_name" || chr(1) || coalesce("company_name", '') || chr(1) || coalesce("bio", '')) gin_trgm_ops,lower_all("specialties"));