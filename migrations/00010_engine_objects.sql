-- +goose Up
ALTER TABLE deployments ADD COLUMN application jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN deployments.application IS 'the engine''s own object without its status: what it adds to what Git says';

-- +goose Down
ALTER TABLE deployments DROP COLUMN application;
