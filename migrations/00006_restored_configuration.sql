-- +goose Up
ALTER TABLE promotions
    ADD COLUMN restore_commit  text    NOT NULL DEFAULT '',
    ADD COLUMN restore_base    boolean NOT NULL DEFAULT false,
    ADD COLUMN restore_secrets boolean NOT NULL DEFAULT false,
    ADD CHECK (restore_commit <> '' OR NOT (restore_base OR restore_secrets));
COMMENT ON COLUMN promotions.restore_commit IS 'the commit of main whose configuration the promotion brings back; empty: only images change';

-- +goose Down
ALTER TABLE promotions DROP COLUMN restore_commit, DROP COLUMN restore_base, DROP COLUMN restore_secrets;
