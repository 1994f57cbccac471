-- name: AddRepository :exec
INSERT INTO prhost.repositories (name, created_at) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING;

-- name: RepositoryID :one
SELECT id FROM prhost.repositories WHERE name = $1;

-- name: LockRepository :one
SELECT id FROM prhost.repositories WHERE name = $1 FOR NO KEY UPDATE;

-- name: NextNumber :one
UPDATE prhost.repositories SET last_number = last_number + 1 WHERE id = $1 RETURNING last_number;

-- name: AddPullRequest :one
INSERT INTO prhost.pull_requests (repository_id, number, branch, title, body, state, head_sha, main_sha, opened_by, opened_at, updated_at)
VALUES (@repository_id, @number, @branch, @title, @body, 'open', @head_sha, @main_sha, @opened_by, @at, @at)
RETURNING *;

-- name: PullRequest :one
SELECT p.* FROM prhost.pull_requests p JOIN prhost.repositories r ON r.id = p.repository_id
WHERE r.name = @repository AND p.number = @number;

-- name: NewestOfBranch :one
SELECT p.* FROM prhost.pull_requests p JOIN prhost.repositories r ON r.id = p.repository_id
WHERE r.name = @repository AND p.branch = @branch ORDER BY p.number DESC LIMIT 1;

-- name: PullRequestsInState :many
SELECT p.* FROM prhost.pull_requests p JOIN prhost.repositories r ON r.id = p.repository_id
WHERE r.name = @repository AND (@state::text = '' OR p.state = @state::text) ORDER BY p.number DESC;

-- name: SetText :exec
UPDATE prhost.pull_requests SET title = @title, body = @body, updated_at = @at
WHERE id = @id AND (title, body) IS DISTINCT FROM (@title, @body);

-- name: SetSeen :exec
UPDATE prhost.pull_requests SET head_sha = @head_sha, main_sha = @main_sha,
    updated_at = CASE WHEN head_sha <> @head_sha THEN @at ELSE updated_at END
WHERE id = @id;

-- name: EndPullRequest :exec
UPDATE prhost.pull_requests SET state = @state, head_sha = @head_sha, merge_sha = @merge_sha, ended_by = @ended_by,
    ended_at = @at, updated_at = @at
WHERE id = @id;

-- name: AddComment :exec
INSERT INTO prhost.comments (pull_request_id, author, body, at) VALUES ($1, $2, $3, $4);

-- name: SetComment :exec
INSERT INTO prhost.comments (pull_request_id, author, body, at, marker) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (pull_request_id, marker) WHERE marker <> '' DO UPDATE SET body = excluded.body, at = excluded.at;

-- name: Comments :many
SELECT * FROM prhost.comments WHERE pull_request_id = $1 ORDER BY id;

-- name: SetStatus :exec
INSERT INTO prhost.statuses (repository_id, sha, context, state, description, url, at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (repository_id, sha, context) DO UPDATE
SET state = excluded.state, description = excluded.description, url = excluded.url, at = excluded.at;

-- name: Status :one
SELECT * FROM prhost.statuses WHERE repository_id = $1 AND sha = $2 AND context = $3;

-- name: Statuses :many
SELECT * FROM prhost.statuses WHERE repository_id = $1 AND sha = $2 ORDER BY context;

-- name: AddEvent :exec
INSERT INTO prhost.events (pull_request_id, kind, actor, message, at) VALUES ($1, $2, $3, $4, $5);

-- name: AddStatusEvents :exec
INSERT INTO prhost.events (pull_request_id, kind, actor, message, at)
SELECT p.id, 'status', @actor, @message, @at FROM prhost.pull_requests p
WHERE p.repository_id = @repository_id AND p.head_sha = @sha AND p.state = 'open';

-- name: Events :many
SELECT * FROM prhost.events WHERE pull_request_id = $1 ORDER BY id;
