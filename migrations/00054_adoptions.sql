-- +goose Up
ALTER TABLE promotions
    ADD COLUMN adopts         text  NOT NULL DEFAULT '',
    ADD COLUMN adopted_fields jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(adopted_fields) = 'array'),
    ADD CONSTRAINT promotions_adopt_fields_by_a_change CHECK (adopted_fields = '[]' OR kind = 'change' AND adopts <> '');
COMMENT ON COLUMN promotions.adopts IS 'in words: the drift that the promotion makes Git say; empty: none';
COMMENT ON COLUMN promotions.adopted_fields IS 'of a change that Sluice itself writes: the fields that Git is to say as they were live; never of a Secret, and none that is hidden from people';

-- +goose Down
UPDATE promotions SET decision = 'cancelled', state = 'cancelled', decided_by = 'sluice', decided_at = now(), decision_reason = 'adoptions were removed'
WHERE adopted_fields <> '[]' AND decision = 'requested' AND pull_request IN ('none', 'open');
ALTER TABLE promotions DROP COLUMN adopts, DROP COLUMN adopted_fields;
