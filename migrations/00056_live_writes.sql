-- +goose Up
CREATE TABLE live_writes (
    cluster    text        NOT NULL CHECK (cluster <> ''),
    audit_id   text        NOT NULL CHECK (audit_id <> ''),
    object     text        NOT NULL CHECK (object <> ''),
    verb       text        NOT NULL CHECK (verb IN ('create', 'update', 'patch', 'delete')),
    username   text        NOT NULL CHECK (username <> ''),
    agent      text        NOT NULL,
    source     text        NOT NULL,
    written_at timestamptz NOT NULL,
    PRIMARY KEY (cluster, audit_id)
);
COMMENT ON TABLE live_writes IS 'what people wrote to live objects, as the audit of a cluster''s API server tells it: who and when, nothing of what; forgotten after a while';
COMMENT ON COLUMN live_writes.object IS 'as drift names it: Kind.group namespace/name';
COMMENT ON COLUMN live_writes.agent IS 'the program, as it calls itself';
COMMENT ON COLUMN live_writes.written_at IS 'when the API server got the request, on its own clock';
CREATE INDEX live_writes_by_object ON live_writes (cluster, object, written_at DESC);
CREATE INDEX live_writes_by_time ON live_writes (written_at);

-- +goose Down
DROP TABLE live_writes;
