-- +goose Up
ALTER TABLE builds ADD COLUMN source_authors text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN builds.source_authors IS 'who wrote the commits that the build brings, as CI names them; empty: it did not say';

-- +goose Down
ALTER TABLE builds DROP COLUMN source_authors;
