INSERT INTO config_repositories (name, url, base_branch, looked_at, problem, policy_faults) VALUES
    ('platform', 'https://git.example.com/platform.git', 'main', '2026-03-02 11:59:30Z', '', '[{"File": "sluice.yaml", "Line": 3}, {"File": "sluice.yaml", "Line": 9}]'),
    ('payments', 'https://git.example.com/payments.git', 'main', '2026-03-02 09:00:00Z', 'host unreachable: secret text', 'null'),
    ('new', 'https://git.example.com/new.git', 'main', NULL, '', '[]');
INSERT INTO policies (config_repository_id, commit, files, in_force_from) VALUES
    (1, 'aaa', '{}', '2026-01-01 00:00:00Z'), (1, 'bbb', '{}', '2026-02-01 00:00:00Z'), (2, 'ccc', '{}', '2026-02-02 00:00:00Z');
INSERT INTO applications (config_repository_id, name, found_at) VALUES (1, 'shop', '2026-01-01'), (2, 'billing', '2026-01-01');
INSERT INTO targets (application_id, environment, rank, path, layout, found_at, removed_at) VALUES
    (1, 'dev', 10, 'apps/shop/overlays/dev', 'kustomize', '2026-01-01', NULL),
    (1, 'prod', 50, 'apps/shop/overlays/prod', 'kustomize', '2026-01-01', NULL),
    (2, 'prod', 50, 'apps/billing/overlays/prod', 'kustomize', '2026-01-01', NULL),
    (2, 'dev', 10, 'apps/billing/overlays/dev', 'kustomize', '2026-01-01', '2026-02-01');
INSERT INTO releases (application_id, number, version, line, origin, artifacts_key, created_at) VALUES
    (1, 1, '1.0', 'main', 'import', 'a', '2026-01-01'), (2, 1, '1.0', 'main', 'import', 'a', '2026-01-01');
-- Two wait in prod, one is merged and held before its sync, one is live, one has failed, one is done.
INSERT INTO promotions (target_id, release_id, kind, state, requested_by, requested_at, pull_request, number, merge_sha, merged_at, synced_at, live_at, verified_at) VALUES
    (2, 1, 'release', 'requested', 'ada', '2026-03-02 11:00:00Z', 'none', NULL, '', NULL, NULL, NULL, NULL),
    (3, 2, 'release', 'open', 'ada', '2026-03-02 10:00:00Z', 'open', 1, '', NULL, NULL, NULL, NULL),
    (2, 1, 'release', 'merged', 'ada', '2026-03-02 09:00:00Z', 'merged', 2, 'm', '2026-03-02', NULL, NULL, NULL),
    (1, 1, 'release', 'live', 'ada', '2026-03-01 09:00:00Z', 'merged', 3, 'm', '2026-03-02', '2026-03-02', '2026-03-02', NULL),
    (1, 1, 'release', 'failed', 'ada', '2026-02-01 09:00:00Z', 'merged', 4, 'm', '2026-03-02', '2026-03-02', NULL, NULL),
    (1, 1, 'release', 'verified', 'ada', '2026-01-01 09:00:00Z', 'merged', 5, 'm', '2026-03-02', '2026-03-02', '2026-03-02', '2026-03-02');
INSERT INTO overrides (target_id, gates, reason, given_by, given_at, expires_at, reviewed_by, reviewed_at) VALUES
    (2, '{evidence}', 'incident', 'ada', '2026-03-02 11:00:00Z', '2026-03-02 13:00:00Z', '', NULL),
    (2, '{evidence}', 'incident', 'ada', '2026-03-01 11:00:00Z', '2026-03-01 13:00:00Z', '', NULL),
    (2, '{evidence}', 'incident', 'ada', '2026-02-01 11:00:00Z', '2026-02-01 13:00:00Z', 'bob', '2026-02-02');
INSERT INTO gate_results (promotion_id, gate, phase, mode, verdict, reason, evaluated_at, replaced_at, override_id) VALUES
    (1, 'hold', 'open', 'enforce', 'wait', 'held', '2026-03-02', NULL, NULL),
    (1, 'hold', 'merge', 'enforce', 'wait', 'held', '2026-03-02', NULL, NULL),      -- the same promotion: counted once
    (2, 'hold', 'merge', 'enforce', 'wait', 'held', '2026-03-02', NULL, NULL),
    (2, 'approvals', 'merge', 'enforce', 'block', 'nobody yet', '2026-03-02', NULL, NULL),
    (2, 'approvals', 'merge', 'enforce', 'block', 'nobody yet', '2026-03-01', '2026-03-02', NULL), -- replaced
    (2, 'branch-protected', 'merge', 'report', 'block', 'is not', '2026-03-02', NULL, NULL),       -- not enforced
    (2, 'evidence', 'merge', 'enforce', 'block', 'none', '2026-03-02', NULL, 1),                   -- overridden
    (2, 'content', 'merge', 'enforce', 'pass', 'equal', '2026-03-02', NULL, NULL),
    (3, 'approvals', 'merge', 'enforce', 'block', 'nobody yet', '2026-03-02', NULL, NULL),         -- merged past it: a violation
    (3, 'sync-window', 'sync', 'enforce', 'wait', 'closed', '2026-03-02', NULL, NULL),
    (4, 'sync-window', 'sync', 'enforce', 'wait', 'closed', '2026-03-02', NULL, NULL);             -- synced all the same
INSERT INTO violations (target_id, kind, actor, message, subject, found_at, closed_by, closed_at) VALUES
    (2, 'merged', 'ada', 'past approvals', 'm', '2026-03-02', '', NULL),
    (2, 'pushed', 'ada', 'past approvals', 'n', '2026-03-02', 'bob', '2026-03-02');
INSERT INTO holds (target_id, reason, held_by, held_at, released_by, released_at) VALUES
    (2, 'rolled back', 'ada', '2026-03-02', '', NULL), (NULL, 'all', 'ada', '2026-03-02', '', NULL), (3, 'rolled back', 'ada', '2026-03-01', 'bob', '2026-03-02');
INSERT INTO freezes (kind, reason, owner, starts_at, ends_at, created_by, created_at, ended_by, ended_at) VALUES
    ('freeze', 'sale', 'ada', '2026-03-01', '2026-03-03', 'ada', '2026-03-01', '', NULL),
    ('freeze', 'later', 'ada', '2026-04-01', '2026-04-03', 'ada', '2026-03-01', '', NULL),
    ('freeze', 'ended early', 'ada', '2026-03-01', '2026-03-03', 'ada', '2026-03-01', 'ada', '2026-03-02'),
    ('window', 'hotfix', 'ada', '2026-03-01', '2026-03-03', 'ada', '2026-03-01', '', NULL);
INSERT INTO deployments (target_id, cluster, namespace, name, repository_url, path, automated_sync, sync, health, since, observed_at) VALUES
    (1, 'eu', 'argocd', 'shop-dev', '', '', true, 'Synced', 'Healthy', '2026-03-02', '2026-03-02 11:00:00Z'),
    (2, 'eu', 'argocd', 'shop-prod', '', '', false, 'Synced', 'Healthy', '2026-03-02', '2026-03-02 11:30:00Z'),
    (3, 'us', 'argocd', 'billing-prod', '', '', false, 'OutOfSync', 'Degraded', '2026-03-02', '2026-03-02 10:00:00Z'),
    (4, 'us', 'argocd', 'billing-dev', '', '', false, 'Unknown', 'Missing', '2026-02-01', '2026-02-01'),       -- its target is gone
    (NULL, 'us', 'argocd', 'somebody-elses', '', '', false, 'Unknown', 'Missing', '2026-02-01', '2026-02-01');
INSERT INTO audit_events (at, actor, actor_kind, action, object, message)
SELECT '2026-03-02 11:58:00Z'::timestamptz + n * interval '1 second', 'ada', 'person', 'promotion.requested', 'promotion/1', 'secret text' FROM generate_series(0, 4) n;
INSERT INTO audit_chain (position, event_id, hash, horizon, sealed_at) VALUES
    (1, 1, decode(repeat('00', 32), 'hex'), '100', '2026-03-02'), (2, 2, decode(repeat('01', 32), 'hex'), '100', '2026-03-02');
INSERT INTO river_job (kind, state, args, max_attempts, finalized_at) VALUES
    ('advance', 'available', '{}', 25, NULL), ('advance', 'available', '{}', 25, NULL), ('advance', 'completed', '{}', 25, '2026-03-02'),
    ('look', 'discarded', '{}', 25, '2026-03-02'), ('look', 'running', '{}', 25, NULL), ('advance-all', 'cancelled', '{}', 25, '2026-03-02');
