-- +goose Up
CREATE TABLE migration_texts (
    sha256 text PRIMARY KEY CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    sql    text NOT NULL
);
COMMENT ON TABLE migration_texts IS 'SQL migrations that CI posted, each text once; none that was seen to hold a credential';

CREATE TABLE migration_sets (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sha256 text NOT NULL UNIQUE CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    tool   text NOT NULL CHECK (tool IN ('plain', 'goose', 'golang-migrate', 'flyway'))
);
COMMENT ON TABLE migration_sets IS 'all migrations of a source at one commit; builds between which none changed share a set';
COMMENT ON COLUMN migration_sets.sha256 IS 'over tool, names and hashes';
COMMENT ON COLUMN migration_sets.tool IS 'that runs them';

CREATE TABLE migration_set_files (
    migration_set_id bigint NOT NULL REFERENCES migration_sets,
    name             text   NOT NULL CHECK (name <> ''),
    sha256           text   NOT NULL REFERENCES migration_texts,
    PRIMARY KEY (migration_set_id, name)
);
COMMENT ON COLUMN migration_set_files.name IS 'path from the folder of migrations';
CREATE INDEX migration_set_files_by_text ON migration_set_files (sha256);

ALTER TABLE builds ADD COLUMN migration_set_id bigint REFERENCES migration_sets;
COMMENT ON COLUMN builds.migration_set_id IS 'the migrations that were posted with it; null when none were, which does not say that there are none';
CREATE INDEX builds_by_migration_set ON builds (migration_set_id) WHERE migration_set_id IS NOT NULL;

CREATE INDEX deployment_observations_by_release ON deployment_observations (target_id, release_id);

CREATE VIEW release_builds AS
SELECT id AS release_id, build_id FROM releases WHERE build_id IS NOT NULL
UNION
SELECT release_id, build_id FROM release_artifacts WHERE build_id IS NOT NULL
UNION
SELECT release_id, build_id FROM release_aliases;
COMMENT ON VIEW release_builds IS 'the builds that a release is made of, and those that posted its digests again';

CREATE VIEW release_migrations AS
SELECT a.name AS application, r.version, r.number AS release_number, r.id AS release_id, b.build_id, s.tool, f.name, f.sha256, x.sql
FROM release_builds b
JOIN releases r ON r.id = b.release_id
JOIN applications a ON a.id = r.application_id
JOIN builds u ON u.id = b.build_id
JOIN migration_sets s ON s.id = u.migration_set_id
JOIN migration_set_files f ON f.migration_set_id = s.id
JOIN migration_texts x ON x.sha256 = f.sha256;
COMMENT ON VIEW release_migrations IS 'the migrations of each release, as the builds it is made of posted them';

-- +goose Down
DROP VIEW release_migrations, release_builds;
DROP INDEX deployment_observations_by_release;
ALTER TABLE builds DROP COLUMN migration_set_id;
DROP TABLE migration_set_files, migration_sets, migration_texts;
