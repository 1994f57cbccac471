-- name: InsertAttestation :one
INSERT INTO attestations (build_id, from_release_id, to_release_id, subject, compatible, since, reason, attested_by, attested_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING id;

-- name: AttestationsAbout :many
SELECT v.id, coalesce(v.build_id, 0)::bigint AS build_id, v.from_release_id::bigint AS from_release_id, coalesce(v.to_release_id, 0)::bigint AS to_release_id,
       v.subject, v.compatible, v.since, v.reason, v.attested_by, v.attested_at, v.expires_at, f.version AS from_version, coalesce(t.version, '')::text AS to_version
FROM release_attestations v
JOIN releases f ON f.id = v.from_release_id
LEFT JOIN releases t ON t.id = v.to_release_id
WHERE v.from_release_id = ANY (sqlc.arg(releases)::bigint[]) AND coalesce(v.to_release_id, sqlc.arg(candidate)::bigint) = sqlc.arg(candidate)::bigint
ORDER BY v.id DESC;

-- name: Attestations :many
SELECT v.id, coalesce(v.build_id, 0)::bigint AS build_id, v.from_release_id::bigint AS from_release_id, coalesce(v.to_release_id, 0)::bigint AS to_release_id,
       v.subject, v.compatible, v.since, v.reason, v.attested_by, v.attested_at, v.expires_at, f.version AS from_version, coalesce(t.version, '')::text AS to_version
FROM release_attestations v
JOIN releases f ON f.id = v.from_release_id
JOIN applications a ON a.id = f.application_id
LEFT JOIN releases t ON t.id = v.to_release_id
WHERE a.name = sqlc.arg(application)
ORDER BY v.id DESC LIMIT sqlc.arg(most);
