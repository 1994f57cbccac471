-- +goose Up
ALTER TABLE config_repositories ADD COLUMN unprotected text[];
COMMENT ON COLUMN config_repositories.unprotected IS 'what the host does not enforce on the base branch, in words, at the last look; empty when nothing is missing, null when it was not looked at yet';

-- +goose Down
ALTER TABLE config_repositories DROP COLUMN unprotected;
