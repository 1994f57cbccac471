-- +goose Up
ALTER TABLE config_repositories ADD COLUMN unprotected text[], ADD COLUMN limited_until timestamptz;
COMMENT ON COLUMN config_repositories.unprotected IS 'what the host does not enforce on the base branch, in words, at the last look; empty when nothing is missing, null when it was not looked at yet';
COMMENT ON COLUMN config_repositories.limited_until IS 'until when the host answers no calls, as it said when there were too many; null when it never did';

-- +goose Down
ALTER TABLE config_repositories DROP COLUMN unprotected, DROP COLUMN limited_until;
