-- name: SyncPauses :many
SELECT sqlc.embed(p), t.application, t.environment, t.path FROM sync_pauses p JOIN target_details t ON t.id = p.target_id
WHERE p.ended_at IS NULL AND (sqlc.arg(target)::bigint = 0 OR p.target_id = sqlc.arg(target)::bigint)
ORDER BY p.id;

-- name: InsertSyncPause :one
INSERT INTO sync_pauses (target_id, owner, reason, paused_by, paused_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id;

-- name: EndSyncPause :execrows
UPDATE sync_pauses SET ended_by = sqlc.arg(ended_by), ended_at = sqlc.arg(at)::timestamptz
WHERE ended_at IS NULL AND target_id = sqlc.arg(target)::bigint;
