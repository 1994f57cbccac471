-- +goose Up
ALTER TABLE promotions
    ADD COLUMN hotfix boolean NOT NULL DEFAULT false,
    ADD CONSTRAINT hotfix_has_a_reason CHECK (NOT hotfix OR kind = 'release' AND reason <> '');
COMMENT ON COLUMN promotions.hotfix IS 'of a release on a line of its own that goes past the environments before its target; see releases_owed';
CREATE INDEX promotions_hotfixes ON promotions (target_id) WHERE hotfix;

CREATE TABLE owed_waivers (
    target_id  bigint      NOT NULL REFERENCES targets,
    release_id bigint      NOT NULL REFERENCES releases,
    waived_by  text        NOT NULL,
    waived_at  timestamptz NOT NULL,
    reason     text        NOT NULL CHECK (reason <> ''),
    PRIMARY KEY (target_id, release_id)
);
COMMENT ON TABLE owed_waivers IS 'releases that a target need not get although a hotfix went past it';

CREATE VIEW releases_owed AS
SELECT DISTINCT ON (t.id, r.id)
       t.id AS target_id, r.id AS release_id, a.name AS application, t.environment, r.version, r.number AS release_number, r.line,
       p.id AS promotion_id, live.environment AS live_in, p.live_at AS since, p.reason
FROM promotions p
JOIN releases r ON r.id = p.release_id
JOIN targets live ON live.id = p.target_id
JOIN applications a ON a.id = live.application_id
JOIN targets t ON t.application_id = live.application_id AND t.rank < live.rank AND t.removed_at IS NULL
WHERE p.hotfix AND p.live_at IS NOT NULL AND p.rolled_back_at IS NULL
  AND NOT EXISTS (SELECT FROM promotions later JOIN releases had ON had.id = later.release_id
                  WHERE later.target_id = t.id AND later.verified_at IS NOT NULL AND later.rolled_back_at IS NULL
                    AND had.line = r.line AND had.number >= r.number)
  AND NOT EXISTS (SELECT FROM owed_waivers w WHERE w.target_id = t.id AND w.release_id = r.id)
ORDER BY t.id, r.id, p.live_at;
COMMENT ON VIEW releases_owed IS 'environments that a hotfix went past, until it or a newer release of its line is verified there, or somebody waives that';

-- +goose Down
DROP VIEW releases_owed;
DROP TABLE owed_waivers;
DROP INDEX promotions_hotfixes;
ALTER TABLE promotions DROP CONSTRAINT hotfix_has_a_reason, DROP COLUMN hotfix;
