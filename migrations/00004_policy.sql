-- +goose Up
CREATE TABLE policies (
    id                   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    config_repository_id bigint      NOT NULL REFERENCES config_repositories,
    commit               text        NOT NULL,
    files                jsonb       NOT NULL CHECK (jsonb_typeof(files) = 'object'),
    in_force_from        timestamptz NOT NULL
);
COMMENT ON TABLE policies IS 'every policy that was in force: the newest of a repository at or before a moment held then';
COMMENT ON COLUMN policies.files IS 'sluice.yaml files by path; empty: the defaults';
CREATE INDEX policies_by_repository ON policies (config_repository_id, id DESC);
CREATE TRIGGER policies_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON policies
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

ALTER TABLE config_repositories ADD COLUMN policy_faults jsonb NOT NULL DEFAULT '[]';
COMMENT ON COLUMN config_repositories.policy_faults IS 'what is wrong with the policy on main; the one before is then in force';

-- +goose Down
ALTER TABLE config_repositories DROP COLUMN policy_faults;
DROP TABLE policies;
