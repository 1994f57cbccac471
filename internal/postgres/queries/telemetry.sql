-- name: RepositoryStates :many
SELECT r.name, r.looked_at, (r.problem <> '')::boolean AS problem,
       (CASE jsonb_typeof(r.policy_faults) WHEN 'array' THEN jsonb_array_length(r.policy_faults) ELSE 0 END)::bigint AS policy_faults,
       coalesce(p.in_force_from, 'epoch')::timestamptz AS policy_since
FROM config_repositories r
LEFT JOIN LATERAL (SELECT x.in_force_from FROM policies x WHERE x.config_repository_id = r.id ORDER BY x.id DESC LIMIT 1) p ON true
ORDER BY r.name;

-- name: PromotionCounts :many
SELECT t.environment, p.state, count(*) AS promotions, min(p.requested_at)::timestamptz AS oldest_requested_at
FROM promotions p JOIN targets t ON t.id = p.target_id
WHERE p.state IN ('requested', 'open', 'merged', 'syncing', 'live', 'failed')
GROUP BY t.environment, p.state ORDER BY t.environment, p.state;

-- name: HoldingGates :many
-- Gates before the merge matter until then, those before the sync from then on until it is done. The few unfinished promotions
-- are found first: planned as one join, all promotions would be read, in parallel.
WITH unfinished AS MATERIALIZED (
    SELECT id, target_id, pull_request, synced_at FROM promotions
    WHERE state IN ('requested', 'open', 'merged', 'syncing', 'live', 'failed'))
SELECT g.gate, t.environment, count(DISTINCT p.id) AS promotions
FROM unfinished p
JOIN gate_results g ON g.promotion_id = p.id AND g.replaced_at IS NULL
JOIN targets t ON t.id = p.target_id
WHERE g.mode = 'enforce' AND g.verdict <> 'pass' AND g.override_id IS NULL
  AND (CASE WHEN p.pull_request = 'merged' THEN g.phase = 'sync' AND p.synced_at IS NULL ELSE g.phase <> 'sync' END)
GROUP BY g.gate, t.environment ORDER BY g.gate, t.environment;

-- name: ExceptionCounts :one
SELECT (SELECT count(*) FROM violations WHERE closed_at IS NULL) AS violations_open,
       (SELECT count(*) FROM overrides WHERE expires_at > sqlc.arg(at)::timestamptz) AS overrides_in_force,
       (SELECT count(*) FROM overrides WHERE reviewed_at IS NULL) AS overrides_unreviewed,
       (SELECT count(*) FROM holds WHERE released_at IS NULL) AS holds,
       (SELECT count(*) FROM freezes WHERE kind = 'freeze' AND ended_at IS NULL
          AND starts_at <= sqlc.arg(at)::timestamptz AND ends_at > sqlc.arg(at)::timestamptz) AS freezes_active;

-- name: DeploymentCounts :many
SELECT d.cluster, d.sync, d.health, count(*) AS deployments, max(d.observed_at)::timestamptz AS newest_observed_at
FROM deployments d JOIN targets t ON t.id = d.target_id
WHERE t.removed_at IS NULL
GROUP BY d.cluster, d.sync, d.health ORDER BY d.cluster, d.sync, d.health;

-- name: AuditBacklog :one
-- After the newest sealed event only, since all of them are too many to look through: one with a lower id is unsealed for a
-- moment at most. The chain is looked into per event, as in EventsToSeal.
SELECT count(*) AS unsealed, coalesce(min(u.at), sqlc.arg(at)::timestamptz)::timestamptz AS oldest_at
FROM (SELECT (CASE WHEN isfinite(e.at) THEN e.at ELSE 'epoch' END) AS at FROM audit_events e
      WHERE e.id > sqlc.arg(newest_sealed)::bigint AND (SELECT c.event_id FROM audit_chain c WHERE c.event_id = e.id) IS NULL
      ORDER BY e.id LIMIT 10000) u;
