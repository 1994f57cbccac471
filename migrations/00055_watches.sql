-- +goose Up
CREATE TABLE cluster_watches (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cluster   text        NOT NULL CHECK (cluster <> ''),
    server    text        NOT NULL CHECK (server <> ''),
    from_time timestamptz NOT NULL,
    to_time   timestamptz NOT NULL,
    CHECK (to_time >= from_time)
);
COMMENT ON TABLE cluster_watches IS 'times in which a server watched a cluster without a gap: outside all of them what a deployment was seen to be is not known to have lasted';
COMMENT ON COLUMN cluster_watches.server IS 'which server: its host and port';
COMMENT ON COLUMN cluster_watches.to_time IS 'moved on every few seconds while the server watches';
CREATE INDEX cluster_watches_by_time ON cluster_watches (cluster, to_time);

ALTER TABLE drift_looks ADD COLUMN known_since timestamptz CHECK (known_since <= looked_at);
COMMENT ON COLUMN drift_looks.known_since IS 'since when every look found out, none too long after the one before; null: the last one did not';

-- +goose Down
ALTER TABLE drift_looks DROP COLUMN known_since;
DROP TABLE cluster_watches;
