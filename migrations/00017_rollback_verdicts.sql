-- +goose Up
CREATE TABLE rollback_verdicts (
    id                     bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    target_id              bigint      NOT NULL REFERENCES targets (id),
    current_release_id     bigint      REFERENCES releases (id),
    candidate_release_id   bigint      REFERENCES releases (id),
    way                    text        NOT NULL CHECK (way IN ('images', 'images-and-config')),
    config_commit          text        NOT NULL DEFAULT '',
    facts                  jsonb       NOT NULL,
    facts_hash             text        NOT NULL,
    artifact_available     text        NOT NULL CHECK (artifact_available IN ('yes', 'no', 'unknown', 'unchecked')),
    config_compatible      text        NOT NULL CHECK (config_compatible IN ('yes', 'no', 'unknown', 'unchecked')),
    data_compatible        text        NOT NULL CHECK (data_compatible IN ('yes', 'no', 'unknown', 'unchecked')),
    traffic_switchable     text        NOT NULL CHECK (traffic_switchable IN ('yes', 'no', 'unknown', 'unchecked')),
    dependency_recoverable text        NOT NULL CHECK (dependency_recoverable IN ('yes', 'no', 'unknown', 'unchecked')),
    overall                text        NOT NULL CHECK (overall IN ('safe', 'unknown', 'unsafe')),
    gate                   text        NOT NULL CHECK (gate IN ('open', 'blocked')),
    reasons                text[]      NOT NULL,
    notes                  text[]      NOT NULL,
    unread                 text[]      NOT NULL,
    evaluated_at           timestamptz NOT NULL,
    confirmed_at           timestamptz NOT NULL,
    CONSTRAINT blocked_for_a_reason CHECK (gate = 'open' OR reasons <> '{}'),
    CONSTRAINT confirmed_after_evaluated CHECK (confirmed_at >= evaluated_at)
);
COMMENT ON TABLE rollback_verdicts IS 'whether a target could go back, with the facts that said so; a row more whenever the facts of a step differ from before';
COMMENT ON COLUMN rollback_verdicts.current_release_id IS 'that runs, or would run; NULL when no release matches';
COMMENT ON COLUMN rollback_verdicts.candidate_release_id IS 'to go back to; NULL when what runs belongs to no release';
COMMENT ON COLUMN rollback_verdicts.way IS 'the images with today''s configuration, or the configuration of then too';
COMMENT ON COLUMN rollback_verdicts.config_commit IS 'of main, where the candidate''s configuration stands; empty when none is known';
COMMENT ON COLUMN rollback_verdicts.facts IS 'as `sluice rollback evaluate` takes them';
COMMENT ON COLUMN rollback_verdicts.facts_hash IS 'SHA-256 of facts and what is beside them';
COMMENT ON COLUMN rollback_verdicts.reasons IS 'that block, as code or code:subject';
COMMENT ON COLUMN rollback_verdicts.unread IS 'what could not be read and why, a sentence each';
COMMENT ON COLUMN rollback_verdicts.evaluated_at IS 'when these facts were found first';
COMMENT ON COLUMN rollback_verdicts.confirmed_at IS 'when they were found last';
CREATE INDEX rollback_verdicts_step ON rollback_verdicts (target_id, candidate_release_id, current_release_id, way, id DESC);

CREATE TABLE rollback_acceptances (
    id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    promotion_id bigint      NOT NULL REFERENCES promotions (id),
    unknown      text        NOT NULL CHECK (unknown <> ''),
    requested_by text        NOT NULL,
    accepted_by  text        NOT NULL CHECK (accepted_by <> ''),
    reason       text        NOT NULL CHECK (btrim(reason) <> ''),
    accepted_at  timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    CONSTRAINT accepted_by_another CHECK (accepted_by <> requested_by),
    CONSTRAINT accepted_for_a_time CHECK (expires_at > accepted_at)
);
COMMENT ON TABLE rollback_acceptances IS 'named unknowns of the gate rollback-safe that somebody other than the one who asked lets stand for a while';
COMMENT ON COLUMN rollback_acceptances.unknown IS 'the reason in full, such as migration-unknown:0046_name_optional';
COMMENT ON COLUMN rollback_acceptances.requested_by IS 'who asked for the promotion';
CREATE INDEX rollback_acceptances_promotion ON rollback_acceptances (promotion_id);

-- +goose Down
DROP TABLE rollback_acceptances;
DROP TABLE rollback_verdicts;
