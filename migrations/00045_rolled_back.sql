-- +goose Up
CREATE TABLE rollback_marks (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    release_id   bigint      NOT NULL REFERENCES releases (id),
    promotion_id bigint      NOT NULL REFERENCES promotions (id),
    marked_at    timestamptz NOT NULL,
    cleared_at   timestamptz,
    cleared_by   text        NOT NULL DEFAULT '',
    clearing     text        NOT NULL DEFAULT '',
    UNIQUE (release_id, promotion_id),
    CHECK ((cleared_at IS NULL) = (cleared_by = '')),
    CHECK ((cleared_at IS NULL) = (clearing = ''))
);
COMMENT ON TABLE rollback_marks IS 'releases that an environment was rolled back from; while one is not cleared, the release is promoted nowhere by itself';
COMMENT ON COLUMN rollback_marks.promotion_id IS 'the rollback';
COMMENT ON COLUMN rollback_marks.clearing IS 'why it may be promoted by itself after all';
CREATE INDEX rollback_marks_standing ON rollback_marks (release_id) WHERE cleared_at IS NULL;
CREATE INDEX rollback_marks_by_promotion ON rollback_marks (promotion_id);

-- +goose Down
DROP TABLE rollback_marks;
