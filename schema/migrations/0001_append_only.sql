-- Rows of some tables are only ever added, so not even a bug in the server can rewrite them.
CREATE FUNCTION refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of % are never changed or removed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;
--> statement-breakpoint
CREATE TRIGGER token_transfers_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON token_transfers
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
