-- name: SaveMigrationSet :one
INSERT INTO migration_sets (sha256, tool) VALUES ($1, $2)
ON CONFLICT (sha256) DO NOTHING
RETURNING id;

-- name: MigrationSet :one
SELECT id FROM migration_sets WHERE sha256 = $1;

-- name: SaveMigrationTexts :exec
INSERT INTO migration_texts (sha256, sql)
SELECT DISTINCT ON (t.sha256) t.sha256, t.sql
FROM (SELECT unnest(sqlc.arg(hashes)::text[]) AS sha256, unnest(sqlc.arg(texts)::text[]) AS sql) t
ORDER BY t.sha256
ON CONFLICT DO NOTHING;

-- name: SaveMigrationSetFiles :exec
INSERT INTO migration_set_files (migration_set_id, name, sha256)
SELECT sqlc.arg(migration_set_id)::bigint, unnest(sqlc.arg(names)::text[]), unnest(sqlc.arg(hashes)::text[]);

-- name: BuildsOfReleases :many
SELECT r.release_id, b.id, b.build_group, b.migration_set_id, coalesce(s.tool, '') AS tool,
       coalesce((SELECT array_agg(a.repository ORDER BY a.repository) FROM build_artifacts a
                 JOIN release_artifacts x ON x.release_id = r.release_id AND x.repository = a.repository AND x.digest = a.digest
                 WHERE a.build_id = b.id), '{}')::text[] AS repositories
FROM release_builds r
JOIN builds b ON b.id = r.build_id
LEFT JOIN migration_sets s ON s.id = b.migration_set_id
WHERE r.release_id = ANY (sqlc.arg(releases)::bigint[])
ORDER BY r.release_id, b.id;

-- name: MigrationSetFiles :many
SELECT migration_set_id, name, sha256 FROM migration_set_files
WHERE migration_set_id = ANY (sqlc.arg(sets)::bigint[])
ORDER BY migration_set_id, name;

-- name: MigrationTexts :many
SELECT sha256, sql FROM migration_texts WHERE sha256 = ANY (sqlc.arg(hashes)::text[]);

-- name: MigrationsKnown :one
SELECT EXISTS (SELECT FROM releases r
               JOIN release_builds x ON x.release_id = r.id
               JOIN builds b ON b.id = x.build_id
               WHERE r.application_id = $1 AND b.migration_set_id IS NOT NULL);

-- name: RanSince :many
WITH last AS (
    SELECT max(coalesce(o.replaced_at, 'infinity')) AS at FROM deployment_observations o
    WHERE o.target_id = sqlc.arg(target)::bigint AND o.release_id = sqlc.arg(release)::bigint
)
SELECT r.id FROM deployment_observations o
JOIN releases r ON r.id = o.release_id
CROSS JOIN last
WHERE o.target_id = sqlc.arg(target)::bigint AND o.release_id <> sqlc.arg(release)::bigint
  AND CASE WHEN last.at IS NULL THEN r.number > (SELECT c.number FROM releases c WHERE c.id = sqlc.arg(release)::bigint)
           ELSE o.observed_at >= last.at END
GROUP BY r.id, r.number
ORDER BY r.number;
