-- +goose Up
ALTER TABLE promotions ADD COLUMN source_changes jsonb NOT NULL DEFAULT '[]';
COMMENT ON COLUMN promotions.source_changes IS 'per source repository, the commits between what the target has and what it gets, as read when the change was proposed';

-- +goose Down
ALTER TABLE promotions DROP COLUMN source_changes;
