-- +goose Up
CREATE TABLE drift (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    deployment_id bigint      NOT NULL REFERENCES deployments,
    target_id     bigint      NOT NULL REFERENCES targets,
    object        text        NOT NULL CHECK (object <> ''),
    path          text        NOT NULL,
    want          text        NOT NULL,
    have          text        NOT NULL,
    class         text        NOT NULL CHECK (class IN ('human', 'autoscaler', 'webhook', 'controller', 'delivery-tool', 'deleted', 'extra', 'unknown')),
    owner         text        NOT NULL DEFAULT '',
    manager       text        NOT NULL DEFAULT '',
    operation     text        NOT NULL DEFAULT '',
    owned_at      timestamptz,
    excuse        text        NOT NULL DEFAULT '',
    finding       text        NOT NULL DEFAULT '',
    first_seen_at timestamptz NOT NULL,
    last_seen_at  timestamptz,
    resolved_at   timestamptz,
    CHECK ((resolved_at IS NULL) = (last_seen_at IS NULL)),
    CHECK (resolved_at >= last_seen_at AND last_seen_at >= first_seen_at),
    CHECK (finding = '' OR excuse <> '')
);
COMMENT ON TABLE drift IS 'fields that were not as Git says, each from when it was first seen until it was resolved; written on change only';
COMMENT ON COLUMN drift.path IS 'the field; empty: the whole object is missing or superfluous';
COMMENT ON COLUMN drift.want IS 'what Git says, hidden where it is a secret; empty: nothing';
COMMENT ON COLUMN drift.manager IS 'as managedFields name it: a program, and no person';
COMMENT ON COLUMN drift.excuse IS 'why it does not count as drift; empty: it counts';
COMMENT ON COLUMN drift.finding IS 'what is wrong with the rule that excuses it';
COMMENT ON COLUMN drift.last_seen_at IS 'the last look that still found it; of what is open it is the look of drift_looks';
CREATE UNIQUE INDEX drift_open ON drift (deployment_id, object, path) WHERE resolved_at IS NULL;
CREATE INDEX drift_by_field ON drift (deployment_id, object, path, first_seen_at DESC);
CREATE INDEX drift_by_target ON drift (target_id, id DESC);

CREATE TABLE drift_looks (
    deployment_id bigint PRIMARY KEY REFERENCES deployments,
    target_id     bigint      NOT NULL REFERENCES targets,
    looked_at     timestamptz,
    problem       text        NOT NULL DEFAULT '',
    problem_since timestamptz,
    revision      text        NOT NULL DEFAULT '',
    self_heal     boolean     NOT NULL DEFAULT false,
    unchecked     text[]      NOT NULL DEFAULT '{}',
    rollback      text        NOT NULL DEFAULT '',
    CHECK ((problem = '') = (problem_since IS NULL)),
    CHECK (looked_at IS NOT NULL OR problem <> '')
);
COMMENT ON TABLE drift_looks IS 'the last look for drift of each deployment';
COMMENT ON COLUMN drift_looks.looked_at IS 'the last look that found out; null: none ever did';
COMMENT ON COLUMN drift_looks.problem IS 'why what is so now is unknown; empty: it is known';
COMMENT ON COLUMN drift_looks.rollback IS 'in words: an earlier release runs than Git says';
CREATE INDEX drift_looks_by_target ON drift_looks (target_id);

-- +goose Down
DROP TABLE drift_looks, drift;
