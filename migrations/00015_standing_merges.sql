-- +goose Up
ALTER TABLE promotions
    ADD COLUMN standing_merge_by       text        NOT NULL DEFAULT '',
    ADD COLUMN standing_merge_at       timestamptz,
    ADD COLUMN standing_merge_roles    text[]      NOT NULL DEFAULT '{}',
    ADD COLUMN standing_merge_rendered text        NOT NULL DEFAULT '',
    ADD CONSTRAINT standing_merge_is_whole CHECK (standing_merge_by = '' OR standing_merge_at IS NOT NULL AND standing_merge_rendered <> '');
COMMENT ON COLUMN promotions.standing_merge_by IS 'who asked for it to be merged when the gates pass; empty for nobody, or once withdrawn';
COMMENT ON COLUMN promotions.standing_merge_roles IS 'of theirs when they asked';
COMMENT ON COLUMN promotions.standing_merge_rendered IS 'hash of the rendered content that they asked it for: no other is merged for it';

-- +goose Down
ALTER TABLE promotions DROP CONSTRAINT standing_merge_is_whole,
    DROP COLUMN standing_merge_rendered, DROP COLUMN standing_merge_roles, DROP COLUMN standing_merge_at, DROP COLUMN standing_merge_by;
