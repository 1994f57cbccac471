-- +goose Up
CREATE TABLE missed_promotions (
    release_id       bigint      NOT NULL REFERENCES releases,
    target_id        bigint      NOT NULL REFERENCES targets,
    reason           text        NOT NULL CHECK (reason <> ''),
    started_by_build bigint      REFERENCES builds,
    missed_at        timestamptz NOT NULL,
    PRIMARY KEY (release_id, target_id)
);
COMMENT ON TABLE missed_promotions IS 'what policy would have promoted by itself, had the release not been marked as rolled back; taken out when the marks are cleared';
COMMENT ON COLUMN missed_promotions.reason IS 'why policy promotes it there';
COMMENT ON COLUMN missed_promotions.started_by_build IS 'the build that set it off; null when none did';
CREATE INDEX missed_promotions_by_target ON missed_promotions (target_id);

-- +goose Down
DROP TABLE missed_promotions;
