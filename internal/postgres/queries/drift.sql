-- name: LockDriftLook :exec
SELECT 1 FROM deployments WHERE id = $1 FOR NO KEY UPDATE;

-- name: OpenDrifts :many
SELECT sqlc.embed(d), l.looked_at FROM drift d LEFT JOIN drift_looks l ON l.deployment_id = d.deployment_id
WHERE d.deployment_id = $1 AND d.resolved_at IS NULL ORDER BY d.object, d.path;

-- name: SyncedAgain :one
SELECT o.observed_at FROM deployments d
JOIN deployment_observations o ON o.target_id = d.target_id AND o.deployment_id = d.id
WHERE d.id = sqlc.arg(deployment_id) AND o.observed_at > sqlc.arg(after) AND o.sync = 'Synced'
  AND (SELECT b.sync FROM deployment_observations b WHERE b.target_id = o.target_id AND b.deployment_id = o.deployment_id AND b.observed_at < o.observed_at
       ORDER BY b.observed_at DESC LIMIT 1) = 'OutOfSync'
ORDER BY o.observed_at LIMIT 1;

-- name: InsertDrift :exec
INSERT INTO drift (deployment_id, target_id, object, path, want, have, class, owner, manager, operation, owned_at, excuse, finding, first_seen_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14);

-- name: SaveDrift :exec
UPDATE drift SET want = $2, have = $3, class = $4, owner = $5, manager = $6, operation = $7, owned_at = $8, excuse = $9, finding = $10 WHERE id = $1;

-- name: ResolveDrift :exec
UPDATE drift SET last_seen_at = sqlc.arg(last_seen)::timestamptz, resolved_at = sqlc.arg(at)::timestamptz WHERE id = $1 AND resolved_at IS NULL;

-- name: SaveDriftLook :exec
INSERT INTO drift_looks (deployment_id, target_id, looked_at, problem, problem_since, revision, self_heal, unchecked, rollback, known_since)
VALUES ($1, $2, sqlc.narg(looked_at), $3, sqlc.narg(problem_since), $4, $5, $6, $7, sqlc.narg(known_since))
ON CONFLICT (deployment_id) DO UPDATE
SET target_id = excluded.target_id,
    known_since = CASE WHEN excluded.known_since IS NOT NULL AND drift_looks.target_id = excluded.target_id AND drift_looks.looked_at >= sqlc.arg(patience)::timestamptz
                  THEN coalesce(drift_looks.known_since, excluded.known_since) ELSE excluded.known_since END,
    looked_at = coalesce(excluded.looked_at, drift_looks.looked_at), problem = excluded.problem,
    problem_since = CASE WHEN excluded.problem <> '' THEN coalesce(drift_looks.problem_since, excluded.problem_since) END,
    revision = CASE WHEN excluded.problem = '' THEN excluded.revision ELSE drift_looks.revision END,
    self_heal = CASE WHEN excluded.problem = '' THEN excluded.self_heal ELSE drift_looks.self_heal END,
    unchecked = CASE WHEN excluded.problem = '' THEN excluded.unchecked ELSE drift_looks.unchecked END,
    rollback = CASE WHEN excluded.problem = '' THEN excluded.rollback ELSE drift_looks.rollback END;

-- name: Drifts :many
SELECT sqlc.embed(f), sqlc.embed(t), d.cluster, d.namespace, d.name, l.looked_at,
       (SELECT count(*) FROM drift e WHERE e.deployment_id = f.deployment_id AND e.object = f.object AND e.path = f.path
          AND e.first_seen_at BETWEEN f.first_seen_at - interval '1 hour' AND f.first_seen_at)::integer AS times,
       coalesce((SELECT jsonb_agg(jsonb_build_object('User', w.username, 'Verb', w.verb, 'Agent', w.agent, 'Source', w.source, 'At', w.written_at)
                                  ORDER BY w.written_at DESC)
                 FROM live_writes w WHERE w.cluster = d.cluster AND w.object = f.object
                   AND w.written_at BETWEEN coalesce(f.owned_at, f.first_seen_at) - interval '5 minutes'
                                        AND coalesce(f.owned_at, f.first_seen_at) + interval '5 minutes'), '[]')::jsonb AS writes
FROM drift f
JOIN deployments d ON d.id = f.deployment_id
JOIN target_details t ON t.id = f.target_id
LEFT JOIN drift_looks l ON l.deployment_id = f.deployment_id
WHERE (sqlc.arg(target)::bigint = 0 OR f.target_id = sqlc.arg(target)::bigint)
  AND (sqlc.arg(application)::text = '' OR t.application = sqlc.arg(application)::text)
  AND (sqlc.arg(environment)::text = '' OR t.environment = sqlc.arg(environment)::text)
  AND (NOT sqlc.arg(open)::boolean OR f.resolved_at IS NULL)
  AND (sqlc.arg(before)::bigint = 0 OR f.id < sqlc.arg(before)::bigint)
ORDER BY f.id DESC LIMIT sqlc.arg(most);

-- name: InsertLiveWrite :exec
INSERT INTO live_writes (cluster, audit_id, object, verb, username, agent, source, written_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT DO NOTHING;

-- name: ForgetLiveWrites :exec
DELETE FROM live_writes WHERE written_at < sqlc.arg(before)::timestamptz;

-- name: DriftLooks :many
SELECT sqlc.embed(l), sqlc.embed(t), d.cluster, d.namespace, d.name,
       (SELECT count(*) FROM drift f WHERE f.deployment_id = l.deployment_id AND f.resolved_at IS NULL AND f.excuse = '')::integer AS drifting,
       (SELECT coalesce(max(f.resolved_at), 'epoch') FROM drift f WHERE f.deployment_id = l.deployment_id AND f.excuse = '')::timestamptz AS drifted_until
FROM drift_looks l
JOIN deployments d ON d.id = l.deployment_id AND d.target_id = l.target_id
JOIN target_details t ON t.id = l.target_id
WHERE sqlc.arg(target)::bigint = 0 OR l.target_id = sqlc.arg(target)::bigint
ORDER BY t.application, t.rank, d.cluster, d.name;
