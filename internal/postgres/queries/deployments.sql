-- name: LockDeployment :one
SELECT * FROM deployments WHERE cluster = $1 AND namespace = $2 AND name = $3 FOR UPDATE;

-- name: AwaitDeployment :exec
SELECT pg_advisory_xact_lock(hashtextextended(concat_ws('/', 'deployment', sqlc.arg(cluster)::text, sqlc.arg(namespace)::text, sqlc.arg(name)::text), 0));

-- name: SaveDeployment :one
INSERT INTO deployments (target_id, cluster, namespace, name, simulated, repository_url, path, automated_sync, sync, health,
    revision, compared_rev, operation, operation_rev, message, images, image_ids, containers, rollout, release_id, since, observed_at,
    application)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)
ON CONFLICT (cluster, namespace, name) DO UPDATE
SET target_id = excluded.target_id, simulated = excluded.simulated, repository_url = excluded.repository_url,
    path = excluded.path, automated_sync = excluded.automated_sync, sync = excluded.sync, health = excluded.health,
    revision = excluded.revision, compared_rev = excluded.compared_rev, operation = excluded.operation, operation_rev = excluded.operation_rev,
    message = excluded.message, images = excluded.images, image_ids = excluded.image_ids, containers = excluded.containers,
    rollout = excluded.rollout, release_id = excluded.release_id, since = excluded.since, observed_at = excluded.observed_at, application = excluded.application
RETURNING id;

-- name: ReplaceObservation :exec
UPDATE deployment_observations SET replaced_at = sqlc.arg(at)::timestamptz
WHERE deployment_id = $1 AND replaced_at IS NULL;

-- name: InsertObservation :exec
INSERT INTO deployment_observations (deployment_id, target_id, release_id, sync, health, revision, operation, message,
    images, image_ids, observed_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);

-- name: Deployments :many
SELECT sqlc.embed(d), coalesce(t.application, '')::text AS application, coalesce(t.environment, '')::text AS environment,
       coalesce(r.version, '')::text AS version, coalesce(r.number, 0)::integer AS number,
       EXISTS (SELECT FROM rollback_marks m WHERE m.release_id = d.release_id AND m.cleared_at IS NULL)::boolean AS rolled_back
FROM deployments d
LEFT JOIN target_details t ON t.id = d.target_id
LEFT JOIN releases r ON r.id = d.release_id
WHERE (sqlc.arg(application)::text = '' OR t.application = sqlc.arg(application)::text)
  AND (sqlc.arg(environment)::text = '' OR t.environment = sqlc.arg(environment)::text)
  AND (sqlc.arg(target_id)::bigint = 0 OR d.target_id = sqlc.arg(target_id)::bigint)
ORDER BY t.application, t.rank, d.cluster, d.name;

-- name: History :many
SELECT o.id, t.application, t.environment, d.cluster, o.release_id, coalesce(r.number, 0)::integer AS number,
       coalesce(r.version, '')::text AS version, o.sync, o.health, o.revision, o.message, o.images, o.image_ids,
       o.observed_at, o.replaced_at, coalesce(p.id, 0)::bigint AS promotion_id, coalesce(p.requested_by, '')::text AS requested_by,
       coalesce(p.merged_by, '')::text AS merged_by,
       coalesce((SELECT array_agg(DISTINCT a.actor) FROM approvals a
                 WHERE a.promotion_id = p.id AND a.decision = 'approve' AND a.rendered_hash = p.rendered_hash
                   AND a.actor <> p.requested_by), '{}')::text[] AS approved_by
FROM deployment_observations o
JOIN deployments d ON d.id = o.deployment_id
JOIN target_details t ON t.id = o.target_id
LEFT JOIN releases r ON r.id = o.release_id
LEFT JOIN LATERAL (SELECT x.* FROM promotions x
                   WHERE x.target_id = o.target_id AND x.release_id = o.release_id AND x.pull_request = 'merged'
                     AND x.merged_at <= o.observed_at
                   ORDER BY x.id DESC LIMIT 1) p ON true
WHERE (sqlc.arg(application)::text = '' OR t.application = sqlc.arg(application)::text)
  AND (sqlc.arg(environment)::text = '' OR t.environment = sqlc.arg(environment)::text)
  AND (sqlc.narg(at)::timestamptz IS NULL
       OR (o.observed_at <= sqlc.narg(at)::timestamptz AND (o.replaced_at IS NULL OR o.replaced_at > sqlc.narg(at)::timestamptz)))
  AND (sqlc.arg(before)::bigint = 0 OR o.id < sqlc.arg(before)::bigint)
ORDER BY o.id DESC LIMIT sqlc.arg(most);

-- name: Seen :many
SELECT d.cluster, d.namespace, d.name, o.release_id, o.sync, o.health, o.observed_at, o.replaced_at
FROM deployment_observations o JOIN deployments d ON d.id = o.deployment_id
WHERE o.target_id = sqlc.arg(target) AND d.target_id = o.target_id
  AND (o.release_id = sqlc.arg(release)::bigint OR o.replaced_at IS NULL OR o.replaced_at > sqlc.arg(since)::timestamptz)
ORDER BY d.cluster, d.name, d.id, o.observed_at, o.id;

-- name: ExtendWatch :execrows
UPDATE cluster_watches SET to_time = greatest(to_time, sqlc.arg(to_time)::timestamptz)
WHERE cluster = sqlc.arg(cluster) AND server = sqlc.arg(server) AND from_time <= sqlc.arg(from_time)::timestamptz AND to_time >= sqlc.arg(from_time)::timestamptz;

-- name: InsertWatch :exec
INSERT INTO cluster_watches (cluster, server, from_time, to_time) VALUES ($1, $2, $3, $4);

-- name: Watches :many
SELECT * FROM cluster_watches WHERE cluster = $1 AND to_time > sqlc.arg(since)::timestamptz ORDER BY from_time, id;

-- name: WatchedUntil :one
SELECT to_time FROM cluster_watches WHERE cluster = $1 AND server <> sqlc.arg(besides)::text ORDER BY to_time DESC LIMIT 1;
