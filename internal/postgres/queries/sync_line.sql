-- name: SyncLine :many
SELECT sqlc.embed(l), t.application, t.environment, p.merged_at, (p.sync_started_at IS NOT NULL)::boolean AS begun,
       ARRAY(SELECT DISTINCT d.cluster FROM deployments d WHERE d.target_id = p.target_id ORDER BY d.cluster)::text[] AS clusters
FROM sync_line l
JOIN promotions p ON p.id = l.promotion_id
JOIN target_details t ON t.id = p.target_id
WHERE l.left_at IS NULL
ORDER BY l.promotion_id;

-- name: MergedUnjudged :many
SELECT sqlc.embed(p), sqlc.embed(t), m.merged_at,
       ARRAY(SELECT DISTINCT d.cluster FROM deployments d WHERE d.target_id = p.target_id ORDER BY d.cluster)::text[] AS clusters
FROM promotions m
JOIN target_details s ON s.id = m.target_id
JOIN target_details t ON t.repository = s.repository
JOIN promotions p ON p.target_id = t.id AND (p.id = m.id OR p.number = m.number AND p.state = 'open')
WHERE m.merged_at > sqlc.arg(since)::timestamptz AND p.state IN ('open', 'merged')
  AND NOT EXISTS (SELECT 1 FROM gate_results g WHERE g.promotion_id = p.id AND g.phase = 'sync')
ORDER BY p.id;

-- name: LockSyncLine :exec
SELECT pg_advisory_xact_lock(hashtextextended('sync-line', 0));

-- name: JoinSyncLine :exec
INSERT INTO sync_line (promotion_id, priority, most, joined_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (promotion_id) DO UPDATE
SET priority = excluded.priority, most = excluded.most, joined_at = excluded.joined_at, started_at = NULL, left_at = NULL;

-- name: TakeSyncPlace :exec
UPDATE sync_line SET started_at = sqlc.arg(at)::timestamptz WHERE promotion_id = $1 AND left_at IS NULL;

-- name: LeaveSyncLine :exec
UPDATE sync_line SET left_at = sqlc.arg(at)::timestamptz WHERE promotion_id = $1 AND left_at IS NULL;
