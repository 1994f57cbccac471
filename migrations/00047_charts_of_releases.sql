-- +goose Up
CREATE TABLE build_charts (
    build_id bigint NOT NULL REFERENCES builds,
    name     text   NOT NULL CHECK (name <> ''),
    version  text   NOT NULL CHECK (version ~ '^v?[0-9]+[.][0-9]+[.][0-9]+([-+][0-9A-Za-z.+-]+)?$'),
    PRIMARY KEY (build_id, name)
);
COMMENT ON TABLE build_charts IS 'chart versions that CI posted with a build';

CREATE TABLE release_charts (
    release_id   bigint NOT NULL REFERENCES releases,
    name         text   NOT NULL CHECK (name <> ''),
    version      text   NOT NULL CHECK (version ~ '^v?[0-9]+[.][0-9]+[.][0-9]+([-+][0-9A-Za-z.+-]+)?$'),
    build_id     bigint REFERENCES builds,
    carried_from bigint REFERENCES releases,
    PRIMARY KEY (release_id, name)
);
COMMENT ON TABLE release_charts IS 'chart versions that are part of a release: overlays that pin the chart get this version';
COMMENT ON COLUMN release_charts.build_id IS 'the build that posted the version; null for one that ran when it was first seen';
COMMENT ON COLUMN release_charts.carried_from IS 'the earlier release this version was carried forward from';
CREATE INDEX release_charts_by_version ON release_charts (name, version);

ALTER TABLE target_revisions ADD COLUMN charts jsonb CHECK (jsonb_typeof(charts) = 'array');
COMMENT ON COLUMN target_revisions.charts IS 'charts that the overlay pins to one version, as name and version; null when they were not read';

-- +goose Down
ALTER TABLE target_revisions DROP COLUMN charts;
DROP TABLE release_charts, build_charts;
