-- +goose Up
ALTER TABLE promotions ALTER COLUMN release_id DROP NOT NULL,
    ADD CONSTRAINT promotions_release CHECK (release_id IS NOT NULL OR kind = 'change');
COMMENT ON COLUMN promotions.kind IS 'release, rollback, or change: what somebody''s own pull request alters in a target; those with one number stand and fall together';
COMMENT ON COLUMN promotions.release_id IS 'the release the target would run; a change may leave it without one that is known';
CREATE UNIQUE INDEX promotions_one_change_per_pull_request ON promotions (target_id, number)
    WHERE kind = 'change' AND decision = 'requested' AND pull_request = 'open';
CREATE INDEX promotions_by_number ON promotions (number) WHERE number IS NOT NULL;

CREATE TABLE pull_requests_seen (
    config_repository_id bigint      NOT NULL REFERENCES config_repositories,
    number               integer     NOT NULL CHECK (number > 0),
    head                 text        NOT NULL,
    main                 text        NOT NULL,
    policy_id            bigint REFERENCES policies,
    ref                  text        NOT NULL,
    verdict              text        NOT NULL,
    seen_at              timestamptz NOT NULL,
    PRIMARY KEY (config_repository_id, number)
);
COMMENT ON TABLE pull_requests_seen IS 'open pull requests as last judged: again when the head, main or the policy is another';
COMMENT ON COLUMN pull_requests_seen.ref IS 'by which the head was fetched into the mirror';
COMMENT ON COLUMN pull_requests_seen.verdict IS 'in words: which gated targets it changes, or why it changes none';

-- +goose Down
DROP TABLE pull_requests_seen;
DROP INDEX promotions_one_change_per_pull_request, promotions_by_number;
ALTER TABLE promotions DROP CONSTRAINT promotions_release, ALTER COLUMN release_id SET NOT NULL;
