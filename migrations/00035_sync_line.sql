-- +goose Up
CREATE TABLE sync_line (
    promotion_id bigint      PRIMARY KEY REFERENCES promotions (id),
    priority     smallint    NOT NULL CHECK (priority BETWEEN 0 AND 3),
    most         integer     NOT NULL CHECK (most > 0),
    joined_at    timestamptz NOT NULL,
    started_at   timestamptz,
    left_at      timestamptz
);
COMMENT ON TABLE sync_line IS 'merged promotions that nothing but the line holds, or that have a place among those syncing';
COMMENT ON COLUMN sync_line.priority IS '0 low, 1 normal, 2 high, 3 a rollback; by the policy when it joined';
COMMENT ON COLUMN sync_line.most IS 'how many targets may sync at once in each of its clusters, by the policy when it joined';
COMMENT ON COLUMN sync_line.started_at IS 'from when on it has a place; null while it waits';
COMMENT ON COLUMN sync_line.left_at IS 'when it gave its place back, or was held by something else again';
CREATE INDEX sync_line_present ON sync_line (promotion_id) WHERE left_at IS NULL;
CREATE INDEX promotions_by_merge ON promotions (merged_at) WHERE merged_at IS NOT NULL;

-- +goose Down
DROP INDEX promotions_by_merge;
DROP TABLE sync_line;
