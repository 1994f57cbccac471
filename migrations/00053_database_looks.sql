-- +goose Up
CREATE TABLE database_looks (
    application text        NOT NULL CHECK (application <> ''),
    environment text        NOT NULL CHECK (environment <> ''),
    looked_at   timestamptz NOT NULL,
    read_at     timestamptz CHECK (read_at <= looked_at),
    problem     text        NOT NULL DEFAULT '',
    PRIMARY KEY (application, environment),
    CHECK (problem <> '' OR read_at = looked_at)
);
COMMENT ON TABLE database_looks IS 'when each application''s database was asked last for what migrations it has applied';
COMMENT ON COLUMN database_looks.read_at IS 'when it answered last; null when it never did';
COMMENT ON COLUMN database_looks.problem IS 'why it was not read at the last look, without where it is or who asked; empty when it was';

-- +goose Down
DROP TABLE database_looks;
