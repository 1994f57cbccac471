-- +goose Up
ALTER TABLE promotions ADD COLUMN lint text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN promotions.lint IS 'what lint finds in the change and not before it';

-- +goose Down
ALTER TABLE promotions DROP COLUMN lint;
