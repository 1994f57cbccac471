-- +goose Up
ALTER TABLE promotions ADD COLUMN changes_policy boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN promotions.changes_policy IS 'the pull request changes the policy too: rendered_hash is then over the policy as well, so that approvals are bound to both';

-- +goose Down
ALTER TABLE promotions DROP COLUMN changes_policy;
