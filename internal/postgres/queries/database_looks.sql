-- name: SaveDatabaseLook :exec
INSERT INTO database_looks AS d (application, environment, looked_at, read_at, problem)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (application, environment) DO UPDATE
SET looked_at = EXCLUDED.looked_at, read_at = COALESCE(EXCLUDED.read_at, d.read_at), problem = EXCLUDED.problem
WHERE EXCLUDED.looked_at >= d.looked_at;

-- name: DatabaseLooks :many
SELECT application, environment, looked_at, read_at, problem FROM database_looks;
