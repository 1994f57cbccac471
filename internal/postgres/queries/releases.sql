-- name: ReleaseByID :many
SELECT r.*, a.name AS application,
       coalesce((SELECT array_agg(DISTINCT l.version ORDER BY l.version) FROM release_aliases l
                 WHERE l.release_id = r.id AND l.version <> r.version), '{}')::text[] AS aliases
FROM releases r JOIN applications a ON a.id = r.application_id
WHERE r.id = ANY (sqlc.arg(ids)::bigint[]);

-- name: ReleaseArtifacts :many
SELECT * FROM release_artifacts WHERE release_id = ANY (sqlc.arg(ids)::bigint[]) ORDER BY release_id, repository;

-- name: ReleaseOfApplicationVersion :one
SELECT r.id FROM releases r JOIN applications a ON a.id = r.application_id
WHERE a.name = sqlc.arg(application) AND a.removed_at IS NULL
  AND (r.version = sqlc.arg(version)
       OR EXISTS (SELECT FROM release_aliases l WHERE l.release_id = r.id AND l.version = sqlc.arg(version)))
ORDER BY r.number DESC LIMIT 1;

-- name: ReleaseOfVersion :one
SELECT r.id FROM releases r
WHERE r.application_id = $1
  AND (r.version = $2 OR EXISTS (SELECT FROM release_aliases l WHERE l.release_id = r.id AND l.version = $2))
ORDER BY r.number DESC LIMIT 1;

-- name: NewestRelease :one
SELECT id FROM releases WHERE application_id = sqlc.arg(application_id) AND (sqlc.arg(line)::text = '' OR line = sqlc.arg(line)::text)
ORDER BY number DESC LIMIT 1;

-- name: ReleaseWithArtifacts :one
SELECT id FROM releases WHERE application_id = $1 AND artifacts_key = $2;

-- name: NewestReleasesUsing :many
SELECT DISTINCT ON (r.application_id) r.id
FROM releases r
JOIN applications a ON a.id = r.application_id AND a.removed_at IS NULL
WHERE r.application_id IN (SELECT x.application_id FROM release_artifacts u JOIN releases x ON x.id = u.release_id
                           WHERE u.repository = ANY (sqlc.arg(repositories)::text[])
                           UNION ALL
                           SELECT t.application_id FROM targets t
                           CROSS JOIN LATERAL (SELECT v.images FROM target_revisions v WHERE v.target_id = t.id ORDER BY v.id DESC LIMIT 1) l
                           CROSS JOIN LATERAL jsonb_path_query(l.images, '$[*]') i
                           WHERE t.removed_at IS NULL AND i ->> 'Name' = ANY (sqlc.arg(repositories)::text[]))
ORDER BY r.application_id, r.number DESC;

-- name: InsertRelease :one
INSERT INTO releases (application_id, number, version, line, origin, build_id, rebuild_of, artifacts_key, created_at)
SELECT sqlc.arg(application_id)::bigint, coalesce(max(number), 0) + 1, sqlc.arg(version), sqlc.arg(line), sqlc.arg(origin),
       sqlc.narg(build_id)::bigint, sqlc.narg(rebuild_of)::bigint, sqlc.arg(artifacts_key), sqlc.arg(created_at)
FROM releases WHERE application_id = sqlc.arg(application_id)::bigint
RETURNING id, number;

-- name: InsertReleaseArtifact :batchexec
INSERT INTO release_artifacts (release_id, repository, digest, tag, name, build_id, carried_from)
VALUES ($1, $2, $3, $4, $5, $6, $7);

-- name: ReleaseCharts :many
SELECT * FROM release_charts WHERE release_id = ANY (sqlc.arg(ids)::bigint[]) ORDER BY release_id, name;

-- name: InsertReleaseChart :batchexec
INSERT INTO release_charts (release_id, name, version, build_id, carried_from) VALUES ($1, $2, $3, $4, $5);

-- name: SaveRejection :exec
UPDATE releases SET rejected_by = $2, rejected_at = $3, rejection = $4 WHERE id = $1;

-- name: InsertAlias :exec
INSERT INTO release_aliases (release_id, version, build_id, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING;

-- name: ReleaseOf :one
WITH running AS (
    SELECT unnest(sqlc.arg(repositories)::text[]) AS repository, unnest(sqlc.arg(refs)::text[]) AS reference
), pinned AS (
    SELECT unnest(sqlc.arg(charts)::text[]) AS name, unnest(sqlc.arg(versions)::text[]) AS version
)
SELECT r.id FROM releases r
WHERE r.application_id = sqlc.arg(application_id)
  AND EXISTS (SELECT FROM release_artifacts a JOIN running u ON u.reference = a.reference WHERE a.release_id = r.id)
  AND NOT EXISTS (SELECT FROM release_artifacts a JOIN running u ON u.repository = a.repository AND u.reference <> a.reference
                  WHERE a.release_id = r.id)
  AND NOT EXISTS (SELECT FROM release_charts c JOIN pinned p ON p.name = c.name AND p.version <> c.version WHERE c.release_id = r.id)
ORDER BY r.id = sqlc.arg(preferred)::bigint DESC, r.number DESC LIMIT 1;

-- name: Releases :many
SELECT r.id FROM releases r JOIN applications a ON a.id = r.application_id
WHERE (sqlc.arg(application)::text = '' OR a.name = sqlc.arg(application)::text)
  AND (sqlc.arg(before)::bigint = 0 OR r.id < sqlc.arg(before)::bigint)
ORDER BY r.id DESC LIMIT sqlc.arg(most);

-- name: SavePlatforms :exec
INSERT INTO platform_manifests (index_digest, digest, platform)
SELECT sqlc.arg(index_digest)::text, unnest(sqlc.arg(digests)::text[]), unnest(sqlc.arg(platforms)::text[])
ON CONFLICT DO NOTHING;

-- name: Platforms :many
SELECT digest, index_digest FROM platform_manifests
WHERE digest = ANY (sqlc.arg(digests)::text[]) OR index_digest = ANY (sqlc.arg(digests)::text[]);

-- name: RollbackMarks :many
SELECT m.release_id, m.promotion_id, m.marked_at, p.requested_by, p.reason, t.environment
FROM rollback_marks m
JOIN promotions p ON p.id = m.promotion_id
JOIN target_details t ON t.id = p.target_id
WHERE m.cleared_at IS NULL AND m.release_id = ANY (sqlc.arg(ids)::bigint[])
ORDER BY m.id;

-- name: MarkRolledBack :execrows
INSERT INTO rollback_marks (release_id, promotion_id, marked_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;

-- name: ClearRollbackMarks :exec
UPDATE rollback_marks SET cleared_at = sqlc.arg(at)::timestamptz, cleared_by = sqlc.arg(by), clearing = sqlc.arg(reason)
WHERE release_id = sqlc.arg(release_id) AND cleared_at IS NULL;

-- name: KeepMissed :exec
INSERT INTO missed_promotions (release_id, target_id, reason, started_by_build, hold_id, missed_at) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (release_id, target_id) DO UPDATE
SET reason = EXCLUDED.reason, started_by_build = EXCLUDED.started_by_build, hold_id = EXCLUDED.hold_id, missed_at = EXCLUDED.missed_at;

-- name: TakeMissed :many
DELETE FROM missed_promotions WHERE release_id = $1 AND hold_id IS NULL RETURNING release_id, target_id, reason, started_by_build;

-- name: TakeHeldBack :many
WITH taken AS (DELETE FROM missed_promotions WHERE hold_id = sqlc.arg(hold)::bigint RETURNING release_id, target_id, reason, started_by_build)
SELECT * FROM taken ORDER BY release_id DESC;
