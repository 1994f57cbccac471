-- +goose Up
CREATE TABLE answered_clusters (
    cluster     text PRIMARY KEY CHECK (cluster <> ''),
    answered_at timestamptz NOT NULL
);
COMMENT ON TABLE answered_clusters IS 'up to when what is recorded of a cluster''s deployments was seen to be so, by any server; after that nobody knows until it is seen again';

-- +goose Down
DROP TABLE answered_clusters;
