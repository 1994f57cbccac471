-- +goose Up
-- Each observation of a deployment asks which target its overlay belongs to.
CREATE INDEX targets_by_path ON targets (path) WHERE removed_at IS NULL;

-- +goose Down
DROP INDEX targets_by_path;
