-- +goose Up
ALTER TABLE holds ADD COLUMN promotion_id bigint REFERENCES promotions;
COMMENT ON COLUMN holds.promotion_id IS 'the rollback that made the hold, and with which it ends when that ends unmerged; null when a person holds it, also since';
CREATE INDEX holds_by_promotion ON holds (promotion_id) WHERE promotion_id IS NOT NULL;

ALTER TABLE missed_promotions ADD COLUMN hold_id bigint REFERENCES holds;
COMMENT ON COLUMN missed_promotions.hold_id IS 'a rollback''s hold that kept it from starting, and with whose end it starts; null: the mark of a rollback did';
COMMENT ON TABLE missed_promotions IS 'what policy would have promoted by itself, had a rollback not marked the release or held the target; taken out when that ends';
CREATE INDEX missed_promotions_by_hold ON missed_promotions (hold_id) WHERE hold_id IS NOT NULL;

-- +goose Down
DELETE FROM missed_promotions WHERE hold_id IS NOT NULL;
COMMENT ON TABLE missed_promotions IS 'what policy would have promoted by itself, had the release not been marked as rolled back; taken out when the marks are cleared';
ALTER TABLE missed_promotions DROP COLUMN hold_id;
ALTER TABLE holds DROP COLUMN promotion_id;
