-- +goose Up
ALTER TABLE promotions
    ADD COLUMN restore_revert boolean NOT NULL DEFAULT false,
    ADD CHECK (restore_commit <> '' OR NOT restore_revert),
    ADD CHECK (NOT (restore_revert AND (restore_base OR restore_secrets)));
COMMENT ON COLUMN promotions.restore_revert IS 'what restore_commit changed is undone on today''s main; otherwise the configuration of that commit comes back';
ALTER TABLE rollback_verdicts DROP CONSTRAINT rollback_verdicts_way_check,
    ADD CONSTRAINT rollback_verdicts_way_check CHECK (way IN ('images', 'images-and-config', 'revert'));

-- +goose Down
DELETE FROM rollback_verdicts WHERE way = 'revert';
ALTER TABLE rollback_verdicts DROP CONSTRAINT rollback_verdicts_way_check,
    ADD CONSTRAINT rollback_verdicts_way_check CHECK (way IN ('images', 'images-and-config'));
ALTER TABLE promotions DROP COLUMN restore_revert;
