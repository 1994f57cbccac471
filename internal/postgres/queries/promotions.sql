-- name: Promotion :one
SELECT sqlc.embed(p), sqlc.embed(t) FROM promotions p JOIN target_details t ON t.id = p.target_id WHERE p.id = $1;

-- name: LockPromotion :one
SELECT id FROM promotions WHERE id = $1 FOR UPDATE;

-- name: OpenOn :many
SELECT id FROM promotions
WHERE target_id = $1 AND decision = 'requested' AND pull_request IN ('none', 'open') AND kind IN ('release', 'rollback')
ORDER BY behind IS NOT NULL, id;

-- name: Promotions :many
SELECT sqlc.embed(p), sqlc.embed(t) FROM promotions p JOIN target_details t ON t.id = p.target_id
WHERE (sqlc.arg(application)::text = '' OR t.application = sqlc.arg(application)::text)
  AND (sqlc.arg(environment)::text = '' OR t.environment = sqlc.arg(environment)::text)
  AND (sqlc.arg(state)::text = '' OR p.state = sqlc.arg(state)::text)
  AND (sqlc.arg(release_id)::bigint = 0 OR p.release_id = sqlc.arg(release_id)::bigint)
  AND (NOT sqlc.arg(unfinished)::boolean OR p.state IN ('requested', 'open', 'merged', 'syncing', 'live', 'failed'))
  AND (sqlc.arg(before)::bigint = 0 OR p.id < sqlc.arg(before)::bigint)
ORDER BY p.id DESC LIMIT sqlc.arg(most);

-- name: Unfinished :many
SELECT p.id FROM promotions p JOIN target_details t ON t.id = p.target_id
WHERE (p.state IN ('requested', 'open', 'merged', 'syncing', 'live', 'failed') OR NOT p.cleaned_up)
  AND (sqlc.arg(repository)::text = '' OR t.repository = sqlc.arg(repository)::text)
ORDER BY p.id;

-- name: UnfinishedOn :many
SELECT id FROM promotions
WHERE target_id = $1 AND (state IN ('requested', 'open', 'merged', 'syncing', 'live', 'failed') OR NOT cleaned_up)
ORDER BY id;

-- name: NewerMerged :one
SELECT coalesce(max(id), 0)::bigint FROM promotions WHERE target_id = $1 AND id > $2 AND pull_request = 'merged';

-- name: NewestMerged :one
SELECT id FROM promotions WHERE target_id = $1 AND id < $2 AND pull_request = 'merged' AND overtaken_at IS NULL ORDER BY id DESC LIMIT 1;

-- name: PromotionByCommit :one
SELECT id FROM promotions WHERE target_id = $1 AND (merge_sha = $2 OR head_sha = $2) ORDER BY id DESC LIMIT 1;

-- name: Changes :many
SELECT p.id FROM promotions p JOIN target_details t ON t.id = p.target_id
WHERE p.number = sqlc.arg(number)::integer AND p.kind = 'change' AND t.repository = sqlc.arg(repository)
ORDER BY p.id DESC;

-- name: VerifiedOn :many
SELECT target_id, max(id)::bigint AS promotion_id FROM promotions
WHERE release_id = $1 AND target_id = ANY (sqlc.arg(targets)::bigint[]) AND verified_at IS NOT NULL AND rolled_back_at IS NULL
GROUP BY target_id;

-- name: InsertPromotion :one
INSERT INTO promotions (target_id, release_id, kind, state, requested_by, requested_at, reason, started_by_build,
                        restore_commit, restore_base, restore_secrets, with_environments, hotfix, behind, restore_revert, adopts, adopted_fields)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) RETURNING id;

-- name: SavePromotion :exec
UPDATE promotions
SET state = $2, decision = $3, decided_by = $4, decided_at = $5, decision_reason = $6, superseded_by = $7,
    merge_asked_by = $8, merge_asked_at = $9, pull_request = $10, branch = $11, base_sha = $12, head_sha = $13,
    number = $14, url = $15, rendered_hash = $16, diff = $17, body_hash = $18, status_reported = $19, merge_sha = $20,
    merged_by = $21, merged_at = $22, cleaned_up = $23, sync_asked_by = $24, sync_asked_at = $25, sync_started_at = $26,
    synced_at = $27, live_at = $28, verified_at = $29, overtaken_at = $30, rolled_back_at = $31, failure = $32, waits_for = $33,
    release_id = $34, lint = $35, changes_policy = $36, standing_merge_by = $37, standing_merge_at = $38,
    standing_merge_roles = $39, standing_merge_rendered = $40, source_changes = $41, standing_merge_kind = $42, behind = $43
WHERE id = $1;

-- name: InsertApproval :exec
INSERT INTO approvals (promotion_id, actor, roles, decision, comment, rendered_hash, decided_at, actor_kind)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: Approvals :many
SELECT * FROM approvals WHERE promotion_id = ANY (sqlc.arg(promotions)::bigint[]) ORDER BY id;

-- name: Gates :many
SELECT * FROM gate_results WHERE promotion_id = $1 AND replaced_at IS NULL ORDER BY id;

-- name: ReplaceGate :exec
UPDATE gate_results SET replaced_at = sqlc.arg(at)::timestamptz
WHERE promotion_id = $1 AND gate = $2 AND phase = $3 AND replaced_at IS NULL;

-- name: InsertGate :exec
INSERT INTO gate_results (promotion_id, gate, phase, mode, verdict, reason, until, inputs, evaluated_at, override_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);
