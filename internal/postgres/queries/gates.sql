-- name: Freezes :many
SELECT * FROM freezes WHERE ended_at IS NULL AND ends_at > sqlc.arg(at)::timestamptz ORDER BY starts_at, id;

-- name: InsertFreeze :one
INSERT INTO freezes (kind, reason, owner, applications, environments, clusters, starts_at, ends_at, created_by, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING id;

-- name: EndFreeze :exec
UPDATE freezes SET ended_by = sqlc.arg(ended_by), ended_at = sqlc.arg(at)::timestamptz WHERE id = $1 AND ended_at IS NULL;

-- name: HoldsOf :many
SELECT sqlc.embed(h), t.id AS target, t.application, t.environment, t.path FROM holds h LEFT JOIN target_details t ON t.id = h.target_id
WHERE h.released_at IS NULL AND (sqlc.arg(target)::bigint = 0 OR h.target_id IS NULL OR h.target_id = sqlc.arg(target)::bigint)
ORDER BY h.id;

-- name: InsertHold :execrows
-- A person's hold takes the place of a rollback's own, which would end with the rollback.
INSERT INTO holds (target_id, reason, held_by, held_at, promotion_id) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (coalesce(target_id, 0)) WHERE released_at IS NULL
DO UPDATE SET reason = EXCLUDED.reason, held_by = EXCLUDED.held_by, held_at = EXCLUDED.held_at, promotion_id = NULL
WHERE holds.promotion_id IS NOT NULL AND EXCLUDED.promotion_id IS NULL;

-- name: ReleaseHold :execrows
UPDATE holds SET released_by = sqlc.arg(released_by), released_at = sqlc.arg(at)::timestamptz
WHERE released_at IS NULL AND coalesce(target_id, 0) = sqlc.arg(target)::bigint;

-- name: EvidenceFor :many
SELECT * FROM evidence WHERE release_id = $1 ORDER BY id DESC;

-- name: InsertEvidence :one
INSERT INTO evidence (release_id, environment, name, source, verdict, url, summary, expires_at, posted_by, posted_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING id;

-- name: ReleasesWithDigest :many
SELECT DISTINCT r.id FROM releases r
JOIN release_artifacts a ON a.release_id = r.id
JOIN applications p ON p.id = r.application_id
WHERE a.digest = sqlc.arg(digest) AND (sqlc.arg(application)::text = '' OR p.name = sqlc.arg(application)::text)
ORDER BY r.id;

-- name: OverridesOf :many
SELECT sqlc.embed(o), sqlc.embed(t) FROM overrides o JOIN target_details t ON t.id = o.target_id
WHERE o.target_id = sqlc.arg(target) AND o.expires_at > sqlc.arg(at)::timestamptz ORDER BY o.id;

-- name: Overrides :many
SELECT sqlc.embed(o), sqlc.embed(t),
       least(o.expires_at, (SELECT min(CASE g.phase WHEN 'sync' THEN p.sync_started_at ELSE p.merged_at END)
                            FROM gate_results g JOIN promotions p ON p.id = g.promotion_id
                            WHERE g.override_id = o.id AND g.mode = 'enforce'
                              AND (g.replaced_at IS NULL OR g.replaced_at > CASE g.phase WHEN 'sync' THEN p.sync_started_at ELSE p.merged_at END)
                           ))::timestamptz AS due_at
FROM overrides o JOIN target_details t ON t.id = o.target_id
WHERE o.expires_at > sqlc.arg(at)::timestamptz OR o.reviewed_at IS NULL ORDER BY o.id DESC;

-- name: OverrideByID :one
SELECT sqlc.embed(o), sqlc.embed(t) FROM overrides o JOIN target_details t ON t.id = o.target_id WHERE o.id = $1 FOR UPDATE OF o;

-- name: InsertOverride :one
INSERT INTO overrides (target_id, gates, reason, incident, given_by, given_at, expires_at, given_by_kind)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id;

-- name: SaveOverride :exec
UPDATE overrides SET reviewed_by = $2, reviewed_at = $3, review = $4 WHERE id = $1;

-- name: InsertViolation :execrows
INSERT INTO violations (target_id, promotion_id, kind, actor, message, subject, found_at)
VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING;

-- name: Violations :many
SELECT sqlc.embed(v), sqlc.embed(t) FROM violations v JOIN target_details t ON t.id = v.target_id
WHERE NOT sqlc.arg(open)::boolean OR v.closed_at IS NULL ORDER BY v.id DESC LIMIT sqlc.arg(most);

-- name: ViolationByID :one
SELECT sqlc.embed(v), sqlc.embed(t) FROM violations v JOIN target_details t ON t.id = v.target_id WHERE v.id = $1 FOR UPDATE OF v;

-- name: SaveViolation :exec
UPDATE violations SET closed_by = $2, closed_at = $3, review = $4 WHERE id = $1;

-- name: Unexamined :many
SELECT v.* FROM target_revisions v JOIN target_details t ON t.id = v.target_id
WHERE NOT v.examined AND v.promotion_id IS NULL AND t.repository = sqlc.arg(repository) AND v.found_at < sqlc.arg(before)::timestamptz
ORDER BY v.id;

-- name: Examined :exec
UPDATE target_revisions SET examined = true WHERE id = $1;
