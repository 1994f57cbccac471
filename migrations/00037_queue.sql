-- +goose Up
ALTER TABLE promotions
    ADD COLUMN behind bigint REFERENCES promotions,
    ADD CONSTRAINT promotions_behind_an_earlier_one CHECK (behind IS NULL OR kind = 'release' AND behind < id);
COMMENT ON COLUMN promotions.behind IS 'the one that it waits behind in the queue of its target; null when it has its turn';
CREATE UNIQUE INDEX promotions_one_has_its_turn_per_target ON promotions (target_id)
    WHERE decision = 'requested' AND pull_request IN ('none', 'open') AND kind IN ('release', 'rollback') AND behind IS NULL;
CREATE INDEX promotions_open_by_target ON promotions (target_id, id)
    WHERE decision = 'requested' AND pull_request IN ('none', 'open') AND kind IN ('release', 'rollback');
DROP INDEX promotions_one_open_per_target;

-- +goose Down
UPDATE promotions SET decision = 'cancelled', state = 'cancelled', decided_by = 'sluice', decided_at = now(), decision_reason = 'queues were removed'
WHERE behind IS NOT NULL AND decision = 'requested' AND pull_request = 'none';
CREATE UNIQUE INDEX promotions_one_open_per_target ON promotions (target_id)
    WHERE decision = 'requested' AND pull_request IN ('none', 'open') AND kind IN ('release', 'rollback');
DROP INDEX promotions_open_by_target, promotions_one_has_its_turn_per_target;
ALTER TABLE promotions DROP CONSTRAINT promotions_behind_an_earlier_one, DROP COLUMN behind;
