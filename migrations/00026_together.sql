-- +goose Up
ALTER TABLE promotions ADD COLUMN with_environments text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN promotions.with_environments IS 'further environments of the application that the same commit gives the release to; what it changes in each gated one is a promotion of kind change of the same pull request';

-- +goose Down
ALTER TABLE promotions DROP COLUMN with_environments;
