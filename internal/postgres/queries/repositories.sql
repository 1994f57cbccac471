-- name: SaveRepository :exec
INSERT INTO config_repositories (name, url, base_branch, head, looked_at, problem, policy_faults, engine_faults, unprotected)
VALUES ($1, $2, $3, $4, sqlc.arg(looked_at)::timestamptz, $5, $6, $7, $8)
ON CONFLICT (name) DO UPDATE
SET url = excluded.url, base_branch = excluded.base_branch, head = excluded.head, looked_at = excluded.looked_at,
    problem = excluded.problem, policy_faults = excluded.policy_faults, engine_faults = excluded.engine_faults,
    unprotected = excluded.unprotected;

-- name: SaveLimit :exec
UPDATE config_repositories SET limited_until = greatest(limited_until, sqlc.arg(until)::timestamptz) WHERE name = $1;

-- name: RepositoryNamed :one
SELECT * FROM config_repositories WHERE name = $1;

-- name: SeenPullRequests :many
SELECT s.number, s.head, s.main, s.policy_id, s.ref, s.verdict, s.seen_at
FROM pull_requests_seen s JOIN config_repositories r ON r.id = s.config_repository_id WHERE r.name = $1;

-- name: SavePullRequestSeen :exec
INSERT INTO pull_requests_seen (config_repository_id, number, head, main, policy_id, ref, verdict, seen_at)
SELECT r.id, sqlc.arg(number), sqlc.arg(head), sqlc.arg(main), sqlc.narg(policy_id), sqlc.arg(ref), sqlc.arg(verdict), sqlc.arg(seen_at)
FROM config_repositories r WHERE r.name = sqlc.arg(repository)
ON CONFLICT (config_repository_id, number) DO UPDATE
SET head = excluded.head, main = excluded.main, policy_id = excluded.policy_id, ref = excluded.ref, verdict = excluded.verdict, seen_at = excluded.seen_at;

-- name: ForgetPullRequest :exec
DELETE FROM pull_requests_seen s USING config_repositories r
WHERE r.id = s.config_repository_id AND r.name = sqlc.arg(repository) AND s.number = sqlc.arg(number)::integer;

-- name: ClaimDelivery :execrows
INSERT INTO webhook_deliveries (host, delivery, received_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;

-- name: ForgetDeliveries :exec
DELETE FROM webhook_deliveries WHERE received_at < $1;

-- name: OfPullRequest :many
SELECT p.id FROM promotions p JOIN target_details t ON t.id = p.target_id
WHERE p.number = sqlc.arg(number)::integer AND t.repository = sqlc.arg(repository)
  AND (p.state IN ('requested', 'open', 'merged', 'syncing', 'live', 'failed') OR NOT p.cleaned_up)
ORDER BY p.id;

-- name: PolicyInForce :one
SELECT p.id, p.commit, p.in_force_from FROM policies p JOIN config_repositories r ON r.id = p.config_repository_id
WHERE r.name = $1 ORDER BY p.id DESC LIMIT 1;

-- name: PolicyFiles :one
SELECT files FROM policies WHERE id = $1;

-- name: InsertPolicy :exec
INSERT INTO policies (config_repository_id, commit, files, in_force_from)
SELECT r.id, sqlc.arg(commit), sqlc.arg(files), sqlc.arg(in_force_from) FROM config_repositories r WHERE r.name = sqlc.arg(repository);

-- name: Repositories :many
SELECT * FROM config_repositories ORDER BY name;

-- name: SaveApplication :one
INSERT INTO applications (config_repository_id, name, found_at)
SELECT r.id, sqlc.arg(name), sqlc.arg(found_at) FROM config_repositories r WHERE r.name = sqlc.arg(repository)
ON CONFLICT (config_repository_id, name) DO UPDATE SET removed_at = NULL
RETURNING id;

-- name: SaveTarget :one
INSERT INTO targets (application_id, environment, rank, path, layout, render_problem, found_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (application_id, environment) DO UPDATE
SET rank = excluded.rank, path = excluded.path, layout = excluded.layout, render_problem = excluded.render_problem,
    removed_at = NULL
RETURNING id;

-- name: RemoveTargetsExcept :exec
UPDATE targets t SET removed_at = sqlc.arg(at)::timestamptz
FROM target_details d
WHERE d.id = t.id AND d.repository = sqlc.arg(repository) AND t.removed_at IS NULL AND NOT (t.id = ANY (sqlc.arg(present)::bigint[]));

-- name: RemoveEmptyApplications :exec
UPDATE applications a SET removed_at = sqlc.arg(at)::timestamptz
WHERE a.removed_at IS NULL AND NOT EXISTS (SELECT FROM targets t WHERE t.application_id = a.id AND t.removed_at IS NULL);

-- name: Targets :many
SELECT * FROM target_details WHERE removed_at IS NULL ORDER BY application, rank, environment;

-- name: TargetsAt :many
SELECT * FROM target_details WHERE repository = $1 AND path = ANY (sqlc.arg(paths)::text[]) AND removed_at IS NULL ORDER BY application, rank, environment;

-- name: TargetsOf :many
SELECT * FROM target_details WHERE application_id = $1 AND removed_at IS NULL ORDER BY rank, environment;

-- name: TargetNamed :one
SELECT * FROM target_details WHERE application = $1 AND environment = $2 AND removed_at IS NULL
ORDER BY id LIMIT 1;

-- name: LockApplication :one
SELECT id FROM applications WHERE id = $1 FOR UPDATE;

-- name: ApplicationID :one
SELECT id FROM applications WHERE name = $1 AND removed_at IS NULL ORDER BY id LIMIT 1;

-- name: InsertTargetRevision :exec
INSERT INTO target_revisions (target_id, commit, author, message, committed_at, rendered_hash, images, release_id, promotion_id,
                              found_at, imported, examined, charts)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13);

-- name: ImagesOf :many
SELECT DISTINCT n.repository FROM targets t
CROSS JOIN LATERAL (SELECT v.images FROM target_revisions v WHERE v.target_id = t.id ORDER BY v.id DESC LIMIT 1) l
CROSS JOIN LATERAL (SELECT (i ->> 'Name')::text AS repository FROM jsonb_path_query(l.images, '$[*]') i) n
WHERE t.application_id = $1 AND t.removed_at IS NULL
ORDER BY 1;

-- name: ChartsOf :one
WITH latest AS (
    SELECT t.layout, l.charts FROM targets t
    CROSS JOIN LATERAL (SELECT v.charts FROM target_revisions v WHERE v.target_id = t.id ORDER BY v.id DESC LIMIT 1) l
    WHERE t.application_id = $1 AND t.removed_at IS NULL
)
SELECT coalesce((SELECT array_agg(DISTINCT c ->> 'name') FROM latest CROSS JOIN LATERAL jsonb_array_elements(latest.charts) c), '{}')::text[] AS names,
       coalesce((SELECT array_agg(DISTINCT c.name) FROM release_charts c JOIN releases r ON r.id = c.release_id
                 WHERE r.application_id = $1 AND c.build_id IS NOT NULL), '{}')::text[] AS posted,
       EXISTS (SELECT FROM latest WHERE layout = 'helm' AND charts IS NULL) AS unread;

-- name: LockTarget :exec
SELECT FROM targets WHERE id = $1 FOR NO KEY UPDATE;

-- name: NameRevisionsPromotion :exec
UPDATE target_revisions SET promotion_id = sqlc.arg(promotion)::bigint
WHERE target_id = $1 AND commit = $2 AND promotion_id IS NULL;

-- name: RevisionsOf :many
SELECT * FROM target_revisions WHERE target_id = $1 ORDER BY id DESC LIMIT $2;

-- name: LatestRevisions :many
SELECT v.target_id, v.commit, v.release_id FROM targets t
CROSS JOIN LATERAL (SELECT x.target_id, x.commit, x.release_id FROM target_revisions x
                    WHERE x.target_id = t.id ORDER BY x.id DESC LIMIT 1) v
WHERE t.removed_at IS NULL;
