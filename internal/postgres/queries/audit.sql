-- name: InsertAuditEvent :exec
INSERT INTO audit_events (at, actor, actor_kind, action, object, application, environment, release_id, promotion_id,
    message, before, after, request_id, source_address)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14);

-- name: AuditEvents :many
SELECT * FROM audit_events
WHERE (sqlc.arg(application)::text = '' OR application = sqlc.arg(application)::text)
  AND (sqlc.arg(environment)::text = '' OR environment = sqlc.arg(environment)::text)
  AND (sqlc.arg(promotion)::bigint = 0 OR promotion_id = sqlc.arg(promotion)::bigint)
  AND (sqlc.arg(release)::bigint = 0 OR release_id = sqlc.arg(release)::bigint)
  AND (sqlc.arg(before)::bigint = 0 OR id < sqlc.arg(before)::bigint)
ORDER BY id DESC LIMIT sqlc.arg(most);

-- name: SaveToken :exec
INSERT INTO api_tokens (name, hash, roles, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (name) DO UPDATE
SET hash = excluded.hash, roles = excluded.roles, created_at = excluded.created_at, expires_at = excluded.expires_at, revoked_at = NULL;

-- name: TokenActor :one
SELECT name, roles FROM api_tokens
WHERE hash = $1 AND revoked_at IS NULL AND expires_at > sqlc.arg(now)::timestamptz;

-- name: TokenNamed :one
SELECT roles, expires_at FROM api_tokens WHERE name = $1 AND revoked_at IS NULL AND expires_at > sqlc.arg(now)::timestamptz;

-- name: RevokeToken :execrows
UPDATE api_tokens SET revoked_at = sqlc.arg(at)::timestamptz WHERE name = $1 AND revoked_at IS NULL;

-- name: TokenExists :one
SELECT EXISTS (SELECT FROM api_tokens WHERE name = $1);
