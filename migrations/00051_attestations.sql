-- +goose Up
CREATE TABLE attestations (
    id              bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    build_id        bigint      REFERENCES builds (id),
    from_release_id bigint      REFERENCES releases (id),
    to_release_id   bigint      REFERENCES releases (id),
    subject         text        NOT NULL CHECK (subject IN ('data', 'messages', 'caches', 'side-effects')),
    compatible      boolean     NOT NULL,
    since           text        NOT NULL DEFAULT '',
    reason          text        NOT NULL DEFAULT '',
    attested_by     text        NOT NULL CHECK (attested_by <> ''),
    attested_at     timestamptz NOT NULL,
    expires_at      timestamptz,
    UNIQUE (build_id, subject),
    CONSTRAINT posted_with_a_build_or_signed_for_a_pair
        CHECK (num_nulls(from_release_id, to_release_id, expires_at) = CASE WHEN build_id IS NULL THEN 0 ELSE 3 END),
    CONSTRAINT from_one_to_another CHECK (from_release_id <> to_release_id),
    CONSTRAINT signed_with_a_reason CHECK (build_id IS NOT NULL OR btrim(reason) <> ''),
    CONSTRAINT signed_for_a_time CHECK (expires_at > attested_at),
    CONSTRAINT since_of_compatible_posts CHECK ((since <> '') = (build_id IS NOT NULL AND compatible))
);
COMMENT ON TABLE attestations IS 'append-only: whether earlier releases can go on with what a release leaves behind where no SQL shows it';
COMMENT ON COLUMN attestations.build_id IS 'that it was posted with; NULL for what a person signed off';
COMMENT ON COLUMN attestations.from_release_id IS 'that left it, of what a person signed off';
COMMENT ON COLUMN attestations.to_release_id IS 'that is gone back to, of what a person signed off';
COMMENT ON COLUMN attestations.since IS 'version of the oldest release that can go on, of what was posted as compatible';
COMMENT ON COLUMN attestations.reason IS 'of a person why, of a build what was found';
CREATE INDEX attestations_of_pair ON attestations (from_release_id, to_release_id) WHERE build_id IS NULL;
CREATE TRIGGER attestations_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON attestations
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE VIEW release_attestations AS
SELECT a.id, a.build_id, x.release_id AS from_release_id, a.to_release_id, a.subject, a.compatible, a.since, a.reason, a.attested_by, a.attested_at, a.expires_at
FROM attestations a
JOIN builds p ON p.id = a.build_id
JOIN builds b ON b.id = p.id OR b.build_group <> '' AND b.build_group = p.build_group
JOIN (SELECT id AS release_id, build_id FROM releases WHERE build_id IS NOT NULL
      UNION SELECT release_id, build_id FROM release_aliases) x ON x.build_id = b.id
UNION
SELECT id, build_id, from_release_id, to_release_id, subject, compatible, since, reason, attested_by, attested_at, expires_at
FROM attestations WHERE build_id IS NULL;
COMMENT ON VIEW release_attestations IS 'attestations by the release that they are about: those of the builds that completed it or posted it again, and those of their groups; and what people signed off';

-- +goose Down
DROP VIEW release_attestations;
DROP TABLE attestations;
