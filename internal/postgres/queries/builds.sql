-- name: InsertBuild :one
INSERT INTO builds (fingerprint, idempotency_key, version, line, build_group, group_expects, source_repository,
                    source_commit, source_ref, ci_provider, ci_run_url, posted_by, posted_at, source_authors, migration_set_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, sqlc.narg(migration_set_id))
ON CONFLICT DO NOTHING
RETURNING id;

-- name: InsertBuildArtifacts :exec
INSERT INTO build_artifacts (build_id, repository, digest, tags)
SELECT sqlc.arg(build_id)::bigint, unnest(sqlc.arg(repositories)::text[]), unnest(sqlc.arg(digests)::text[]),
       string_to_array(unnest(sqlc.arg(tags)::text[]), ' ');

-- name: InsertBuildCharts :exec
INSERT INTO build_charts (build_id, name, version)
SELECT sqlc.arg(build_id)::bigint, unnest(sqlc.arg(names)::text[]), unnest(sqlc.arg(versions)::text[]);

-- name: BuildCharts :many
SELECT * FROM build_charts WHERE build_id = ANY (sqlc.arg(builds)::bigint[]) ORDER BY build_id, name;

-- name: BuildByFingerprint :one
SELECT id FROM builds WHERE fingerprint = $1;

-- name: BuildByKey :one
SELECT * FROM builds b WHERE b.idempotency_key = sqlc.arg(key)::text
UNION ALL
SELECT b.* FROM build_keys k JOIN builds b ON b.id = k.build_id WHERE k.idempotency_key = sqlc.arg(key)::text
LIMIT 1;

-- name: RememberKey :exec
INSERT INTO build_keys (idempotency_key, build_id) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- name: BuildByID :one
SELECT * FROM builds WHERE id = $1;

-- name: BuildsOfGroup :many
SELECT * FROM builds WHERE build_group = $1 ORDER BY id;

-- name: BuildArtifacts :many
SELECT * FROM build_artifacts WHERE build_id = ANY (sqlc.arg(builds)::bigint[]) ORDER BY build_id, repository;

-- name: ReleasesOfBuild :many
SELECT r.id FROM releases r WHERE r.build_id = sqlc.arg(build)::bigint
UNION
SELECT a.release_id FROM release_aliases a WHERE a.build_id = sqlc.arg(build)::bigint
ORDER BY 1;

-- name: PromotionsOfBuild :many
SELECT id FROM promotions WHERE started_by_build = sqlc.arg(build)::bigint ORDER BY id;

-- name: AuthorsOf :many
SELECT x.repository, coalesce(array_agg(DISTINCT author) FILTER (WHERE author IS NOT NULL), '{}')::text[] AS authors
FROM release_artifacts x
LEFT JOIN release_builds r ON r.release_id = x.release_id
LEFT JOIN build_artifacts i ON i.build_id = r.build_id AND i.repository = x.repository AND i.digest = x.digest
LEFT JOIN builds b ON b.id = i.build_id
LEFT JOIN LATERAL unnest(b.source_authors) author ON true
WHERE x.release_id = $1 GROUP BY x.repository ORDER BY x.repository;
