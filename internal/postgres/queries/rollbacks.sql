-- name: VerifiedHere :many
SELECT release_id::bigint AS release_id FROM promotions
WHERE target_id = $1 AND release_id IS NOT NULL AND verified_at IS NOT NULL
GROUP BY release_id ORDER BY max(verified_at) DESC, release_id DESC LIMIT sqlc.arg(most);

-- name: LatestRollbackVerdict :one
SELECT id, facts_hash, evaluated_at FROM rollback_verdicts
WHERE target_id = $1 AND way = $2
  AND coalesce(candidate_release_id, 0) = sqlc.arg(candidate)::bigint AND coalesce(current_release_id, 0) = sqlc.arg(current)::bigint
ORDER BY id DESC LIMIT 1;

-- name: InsertRollbackVerdict :one
INSERT INTO rollback_verdicts (target_id, current_release_id, candidate_release_id, way, config_commit, facts, facts_hash, artifact_available,
    config_compatible, data_compatible, traffic_switchable, dependency_recoverable, overall, gate, reasons, notes, unread, evaluated_at, confirmed_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, sqlc.arg(at)::timestamptz, sqlc.arg(at)::timestamptz) RETURNING id;

-- name: ConfirmRollbackVerdict :exec
UPDATE rollback_verdicts SET confirmed_at = greatest(confirmed_at, sqlc.arg(at)::timestamptz) WHERE id = $1;

-- name: RollbackVerdictByID :one
SELECT sqlc.embed(v), sqlc.embed(t) FROM rollback_verdicts v JOIN target_details t ON t.id = v.target_id WHERE v.id = $1;

-- name: RollbackAcceptances :many
SELECT * FROM rollback_acceptances WHERE promotion_id = $1 ORDER BY id;

-- name: InsertRollbackAcceptance :one
INSERT INTO rollback_acceptances (promotion_id, unknown, requested_by, accepted_by, reason, accepted_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id;
