-- Roles for a server that cannot rewrite its own audit. Run this as the owner of the schema, in Sluice's database, once after
-- `sluice migrate` and again after each upgrade's: it may be run any number of times.
--
--   psql "$OWNER_URL" -v ON_ERROR_STOP=1 -f roles.sql
--   CREATE ROLE sluice_server LOGIN PASSWORD '…' IN ROLE sluice_app;
--
-- sluice_app is what `sluice serve` needs once the schema is up to date. Upgrades: stop or keep the old servers, run
-- `sluice migrate` with the owner's URL, run this file, start the new servers.
-- sluice_readonly is for dashboards and `sluice audit`: everything but tokens and sessions.
--
-- The owner of the tables and superusers stay able to switch triggers off. What they change is found by `sluice audit verify
-- --expect` with a head that was noted where they cannot write.

BEGIN;

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'sluice_app') THEN
        CREATE ROLE sluice_app NOLOGIN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'sluice_readonly') THEN
        CREATE ROLE sluice_readonly NOLOGIN;
    END IF;
END $$;

REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public, prhost TO sluice_app, sluice_readonly;

-- Whatever was granted before is taken back first, so that this file alone says what holds.
REVOKE ALL ON ALL TABLES IN SCHEMA public, prhost FROM sluice_app, sluice_readonly;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA public, prhost FROM sluice_app, sluice_readonly;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public, prhost TO sluice_app;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public, prhost TO sluice_app;
GRANT SELECT ON ALL TABLES IN SCHEMA public, prhost TO sluice_readonly;
REVOKE SELECT ON api_tokens, sessions FROM sluice_readonly;

-- The schema's own history is the owner's.
REVOKE INSERT, UPDATE, DELETE ON goose_db_version, river_migration FROM sluice_app;

-- Append-only tables are those that say so by their trigger.
DO $$
DECLARE
    append_only regclass;
BEGIN
    FOR append_only IN SELECT tgrelid::regclass FROM pg_trigger WHERE tgfoid = 'public.refuse_change'::regproc LOOP
        EXECUTE format('REVOKE UPDATE, DELETE ON %s FROM sluice_app', append_only);
    END LOOP;
END $$;

-- An event's id and transaction come from the database alone.
DO $$
BEGIN
    REVOKE INSERT ON audit_events FROM sluice_app;
    EXECUTE (
        SELECT format('GRANT INSERT (%s) ON audit_events TO sluice_app', string_agg(quote_ident(attname), ', '))
        FROM pg_attribute
        WHERE attrelid = 'public.audit_events'::regclass AND attnum > 0 AND NOT attisdropped AND attname NOT IN ('id', 'tx'));
END $$;

COMMIT;
