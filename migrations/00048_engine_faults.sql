-- +goose Up
ALTER TABLE config_repositories ADD COLUMN engine_faults jsonb CHECK (jsonb_typeof(engine_faults) = 'array');
COMMENT ON COLUMN config_repositories.engine_faults IS 'what of the GitOps engine''s own files on main is not known to lead to a deployment, as file, line and reason; null when they were not read yet';

-- +goose Down
ALTER TABLE config_repositories DROP COLUMN engine_faults;
