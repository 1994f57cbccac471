-- name: Owed :many
SELECT sqlc.embed(t), o.release_id, o.promotion_id, o.live_in, o.since::timestamptz AS since FROM releases_owed o JOIN target_details t ON t.id = o.target_id
WHERE sqlc.arg(target)::bigint = 0 OR o.target_id = sqlc.arg(target)::bigint
ORDER BY o.since, o.target_id, o.release_id;

-- name: InsertWaiver :execrows
INSERT INTO owed_waivers (target_id, release_id, waived_by, waived_at, reason) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING;
