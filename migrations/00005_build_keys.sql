-- +goose Up
CREATE TABLE build_keys (
    idempotency_key text   PRIMARY KEY,
    build_id        bigint NOT NULL REFERENCES builds
);
COMMENT ON TABLE build_keys IS 'further idempotency keys under which a build''s content was posted again';

-- +goose Down
DROP TABLE build_keys;
