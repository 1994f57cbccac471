-- +goose Up
CREATE TABLE sync_pauses (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    target_id  bigint      NOT NULL REFERENCES targets,
    owner      text        NOT NULL CHECK (owner <> ''),
    reason     text        NOT NULL CHECK (reason <> ''),
    paused_by  text        NOT NULL,
    paused_at  timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    ended_by   text        NOT NULL DEFAULT '',
    ended_at   timestamptz,
    CHECK (expires_at > paused_at),
    CHECK ((ended_at IS NULL) = (ended_by = '')),
    CHECK (ended_at >= paused_at)
);
COMMENT ON TABLE sync_pauses IS 'times in which the engine was not to sync a target by itself, as somebody wanted; whether it did not, the deployments say';
COMMENT ON COLUMN sync_pauses.owner IS 'who sees to it that it ends';
COMMENT ON COLUMN sync_pauses.expires_at IS 'from when on people are reminded; nothing ends by itself then';
COMMENT ON COLUMN sync_pauses.ended_at IS 'when somebody resumed it, or paused it anew';
CREATE UNIQUE INDEX sync_pauses_open ON sync_pauses (target_id) WHERE ended_at IS NULL;
CREATE INDEX sync_pauses_by_target ON sync_pauses (target_id, id DESC);

-- +goose Down
DROP TABLE sync_pauses;
