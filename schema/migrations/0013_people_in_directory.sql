DROP INDEX "contractors_terms";--> statement-breakpoint
ALTER TABLE "contractors" ADD COLUMN "person_name" text DEFAULT '' NOT NULL;--> statement-breakpoint
UPDATE contractors c SET person_name = u.first_name || ' ' || u.last_name, created_at = u.created_at FROM users u WHERE u.id = c.user_id;
--> statement-breakpoint
CREATE INDEX "contractors_terms" ON "contractors" USING gin (lower("person_name" || chr(1) || coalesce("company_name", '') || chr(1) || coalesce("bio", '')) gin_trgm_ops,lower_all("specialties"),lower_all("service_areas"));
--> statement-breakpoint
-- A contractor's row has a copy of the account's name and creation time, no matter which of the two rows changes. The
-- directory searches the name. The list of users sorts contractors by the time.
CREATE FUNCTION take_from_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT u.first_name || ' ' || u.last_name, u.created_at INTO NEW.person_name, NEW.created_at
  FROM users u WHERE u.id = NEW.user_id;
  RETURN NEW;
END
$$;
--> statement-breakpoint
CREATE TRIGGER contractors_follow_their_account BEFORE INSERT OR UPDATE OF user_id, person_name, created_at ON contractors
  FOR EACH ROW EXECUTE FUNCTION take_from_account();
--> statement-breakpoint
CREATE FUNCTION give_to_contractor() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- The other trigger replaces this value with the account's.
  UPDATE contractors SET person_name = person_name WHERE user_id = NEW.id;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER accounts_lead_their_contractor AFTER UPDATE OF first_name, last_name, created_at ON users FOR EACH ROW
  WHEN ((OLD.first_name, OLD.last_name, OLD.created_at) IS DISTINCT FROM (NEW.first_name, NEW.last_name, NEW.created_at))
  EXECUTE FUNCTION give_to_contractor();
