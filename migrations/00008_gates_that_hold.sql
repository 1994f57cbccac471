-- +goose Up
CREATE TABLE freezes (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind         text        NOT NULL CHECK (kind IN ('freeze', 'window')),
    reason       text        NOT NULL CHECK (reason <> ''),
    owner        text        NOT NULL CHECK (owner <> ''),
    applications text[]      NOT NULL DEFAULT '{}',
    environments text[]      NOT NULL DEFAULT '{}',
    clusters     text[]      NOT NULL DEFAULT '{}',
    starts_at    timestamptz NOT NULL,
    ends_at      timestamptz NOT NULL,
    created_by   text        NOT NULL,
    created_at   timestamptz NOT NULL,
    ended_by     text        NOT NULL DEFAULT '',
    ended_at     timestamptz,
    CHECK (ends_at > starts_at),
    CHECK ((ended_at IS NULL) = (ended_by = ''))
);
COMMENT ON TABLE freezes IS 'one-off: a freeze lets nothing out, a window lets changes out although no recurring window is open. A freeze wins';
COMMENT ON COLUMN freezes.applications IS 'names or patterns; empty: all';
CREATE INDEX freezes_by_end ON freezes (ends_at) WHERE ended_at IS NULL;

CREATE TABLE holds (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    target_id   bigint REFERENCES targets,
    reason      text        NOT NULL CHECK (reason <> ''),
    held_by     text        NOT NULL,
    held_at     timestamptz NOT NULL,
    released_by text        NOT NULL DEFAULT '',
    released_at timestamptz,
    CHECK ((released_at IS NULL) = (released_by = ''))
);
COMMENT ON TABLE holds IS 'a target that somebody holds, or everything when there is no target: nothing is promoted by itself, and no release is merged or synced';
CREATE UNIQUE INDEX holds_one_per_target ON holds (coalesce(target_id, 0)) WHERE released_at IS NULL;

CREATE TABLE evidence (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    release_id  bigint      NOT NULL REFERENCES releases,
    environment text        NOT NULL DEFAULT '',
    name        text        NOT NULL CHECK (name <> ''),
    source      text        NOT NULL CHECK (source <> ''),
    verdict     text        NOT NULL CHECK (verdict IN ('pass', 'fail')),
    url         text        NOT NULL DEFAULT '',
    summary     text        NOT NULL DEFAULT '',
    expires_at  timestamptz,
    posted_by   text        NOT NULL,
    posted_at   timestamptz NOT NULL
);
COMMENT ON TABLE evidence IS 'verification results; the newest of a source counts, and all are kept';
COMMENT ON COLUMN evidence.environment IS 'where it was found; empty: of the artifacts themselves, as an image scan is';
CREATE INDEX evidence_by_release ON evidence (release_id, name, id DESC);
CREATE TRIGGER evidence_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON evidence
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE overrides (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    target_id   bigint      NOT NULL REFERENCES targets,
    gates       text[]      NOT NULL CHECK (cardinality(gates) > 0),
    reason      text        NOT NULL CHECK (reason <> ''),
    incident    text        NOT NULL DEFAULT '',
    given_by    text        NOT NULL,
    given_at    timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL,
    reviewed_by text        NOT NULL DEFAULT '',
    reviewed_at timestamptz,
    review      text        NOT NULL DEFAULT '',
    CHECK (expires_at > given_at),
    CHECK ((reviewed_at IS NULL) = (reviewed_by = '')),
    CHECK (reviewed_by <> given_by)
);
COMMENT ON TABLE overrides IS 'break-glass: gates of a target that somebody opened for a time, to be reviewed by somebody else';
CREATE INDEX overrides_by_target ON overrides (target_id, expires_at DESC);
CREATE INDEX overrides_to_review ON overrides (id) WHERE reviewed_at IS NULL;

CREATE TABLE violations (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    target_id    bigint      NOT NULL REFERENCES targets,
    promotion_id bigint REFERENCES promotions,
    kind         text        NOT NULL CHECK (kind IN ('merged', 'pushed', 'synced', 'edited')),
    actor        text        NOT NULL,
    message      text        NOT NULL,
    subject      text        NOT NULL,
    found_at     timestamptz NOT NULL,
    closed_by    text        NOT NULL DEFAULT '',
    closed_at    timestamptz,
    review       text        NOT NULL DEFAULT '',
    CHECK ((closed_at IS NULL) = (closed_by = '')),
    UNIQUE (target_id, kind, subject)
);
COMMENT ON TABLE violations IS 'what went past a gate: followed all the same, and to be reviewed';
COMMENT ON COLUMN violations.subject IS 'the commit, revision or field that went past';
CREATE INDEX violations_open ON violations (id) WHERE closed_at IS NULL;

ALTER TABLE gate_results ADD COLUMN override_id bigint REFERENCES overrides;
COMMENT ON COLUMN gate_results.override_id IS 'the override that let it through although the verdict is not pass';

ALTER TABLE releases ADD COLUMN rejected_by text NOT NULL DEFAULT '', ADD COLUMN rejected_at timestamptz, ADD COLUMN rejection text NOT NULL DEFAULT '',
    ADD CHECK ((rejected_at IS NULL) = (rejected_by = ''));
COMMENT ON COLUMN releases.rejected_at IS 'a rejected release is promoted nowhere until somebody reopens it';

ALTER TABLE target_revisions ADD COLUMN found_at timestamptz, ADD COLUMN imported boolean NOT NULL DEFAULT true,
    ADD COLUMN examined boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN target_revisions.imported IS 'it was on main before Sluice knew the target';
CREATE INDEX target_revisions_unexamined ON target_revisions (id) WHERE NOT examined;

-- +goose Down
ALTER TABLE target_revisions DROP COLUMN found_at, DROP COLUMN imported, DROP COLUMN examined;
ALTER TABLE releases DROP COLUMN rejected_by, DROP COLUMN rejected_at, DROP COLUMN rejection;
ALTER TABLE gate_results DROP COLUMN override_id;
DROP TABLE violations, overrides, evidence, holds, freezes;
