-- +goose Up
-- Names are for people who query by hand; constraints say what is true.

CREATE TABLE config_repositories (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name          text        NOT NULL UNIQUE,
    url           text        NOT NULL,
    base_branch   text        NOT NULL,
    head          text        NOT NULL DEFAULT '',
    looked_at     timestamptz,
    problem       text        NOT NULL DEFAULT ''
);
COMMENT ON COLUMN config_repositories.head IS 'the base branch''s commit as of the last look';
COMMENT ON COLUMN config_repositories.problem IS 'why the last look failed; empty when it did not';

CREATE TABLE applications (
    id                   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    config_repository_id bigint      NOT NULL REFERENCES config_repositories,
    name                 text        NOT NULL,
    found_at             timestamptz NOT NULL,
    removed_at           timestamptz,
    UNIQUE (config_repository_id, name)
);
CREATE INDEX applications_by_name ON applications (name);

CREATE TABLE targets (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    application_id bigint      NOT NULL REFERENCES applications,
    environment    text        NOT NULL,
    rank           integer     NOT NULL,
    path           text        NOT NULL,
    layout         text        NOT NULL CHECK (layout IN ('kustomize', 'helm', 'plain')),
    render_problem text        NOT NULL DEFAULT '',
    found_at       timestamptz NOT NULL,
    removed_at     timestamptz,
    UNIQUE (application_id, environment)
);
COMMENT ON TABLE targets IS 'one application in one environment: an overlay path of the config repository';

CREATE VIEW target_details AS
SELECT t.id, t.application_id, a.name AS application, r.name AS repository, t.environment, t.rank, t.path, t.layout,
       t.render_problem, t.removed_at
FROM targets t
JOIN applications a ON a.id = t.application_id
JOIN config_repositories r ON r.id = a.config_repository_id;
COMMENT ON VIEW target_details IS 'targets with the names of their application and config repository';

CREATE TABLE builds (
    id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    fingerprint       text        NOT NULL UNIQUE,
    idempotency_key   text UNIQUE,
    version           text        NOT NULL,
    line              text        NOT NULL,
    build_group       text        NOT NULL DEFAULT '',
    group_expects     text[]      NOT NULL DEFAULT '{}',
    source_repository text        NOT NULL,
    source_commit     text        NOT NULL,
    source_ref        text        NOT NULL DEFAULT '',
    ci_provider       text        NOT NULL DEFAULT '',
    ci_run_url        text        NOT NULL DEFAULT '',
    posted_by         text        NOT NULL,
    posted_at         timestamptz NOT NULL
);
COMMENT ON COLUMN builds.fingerprint IS 'SHA-256 of what was posted: the same post again is the same build';
CREATE INDEX builds_by_group ON builds (build_group) WHERE build_group <> '';
CREATE INDEX builds_by_commit ON builds (source_commit);

CREATE TABLE build_artifacts (
    build_id   bigint NOT NULL REFERENCES builds,
    repository text   NOT NULL,
    digest     text   NOT NULL CHECK (digest ~ '^sha256:[0-9a-f]{64}$'),
    tags       text[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (build_id, repository)
);
CREATE INDEX build_artifacts_by_digest ON build_artifacts (digest);

CREATE TABLE releases (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    application_id bigint      NOT NULL REFERENCES applications,
    number         integer     NOT NULL CHECK (number > 0),
    version        text        NOT NULL,
    line           text        NOT NULL,
    origin         text        NOT NULL CHECK (origin IN ('build', 'import')),
    build_id       bigint REFERENCES builds,
    rebuild_of     bigint REFERENCES releases,
    artifacts_key  text        NOT NULL,
    created_at     timestamptz NOT NULL,
    UNIQUE (application_id, number),
    CHECK ((origin = 'build') = (build_id IS NOT NULL))
);
COMMENT ON COLUMN releases.artifacts_key IS 'SHA-256 over the complete set of name and reference: equal sets are one release';
CREATE UNIQUE INDEX releases_one_per_set ON releases (application_id, artifacts_key);
CREATE INDEX releases_by_build ON releases (build_id) WHERE build_id IS NOT NULL;
CREATE INDEX releases_by_version ON releases (application_id, version);

CREATE TABLE release_artifacts (
    release_id   bigint NOT NULL REFERENCES releases,
    repository   text   NOT NULL,
    digest       text   NOT NULL DEFAULT '' CHECK (digest = '' OR digest ~ '^sha256:[0-9a-f]{64}$'),
    tag          text   NOT NULL DEFAULT '',
    reference    text   NOT NULL GENERATED ALWAYS AS
                        (repository || CASE WHEN digest = '' THEN ':' || tag ELSE '@' || digest END) STORED,
    name         text   NOT NULL,
    build_id     bigint REFERENCES builds,
    carried_from bigint REFERENCES releases,
    PRIMARY KEY (release_id, repository)
);
COMMENT ON COLUMN release_artifacts.digest IS 'empty only for what was imported and runs under a tag: unproven';
COMMENT ON COLUMN release_artifacts.name IS 'for people: as the manifests call the image';
COMMENT ON COLUMN release_artifacts.carried_from IS 'the earlier release this artifact was carried forward from';
CREATE INDEX release_artifacts_by_repository ON release_artifacts (repository, release_id);
CREATE INDEX release_artifacts_by_digest ON release_artifacts (digest);

CREATE TABLE release_aliases (
    release_id bigint      NOT NULL REFERENCES releases,
    version    text        NOT NULL,
    build_id   bigint      NOT NULL REFERENCES builds,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (release_id, build_id)
);
CREATE INDEX release_aliases_by_build ON release_aliases (build_id);
COMMENT ON TABLE release_aliases IS 'the same digests posted again under another name';

CREATE TABLE platform_manifests (
    index_digest text NOT NULL,
    digest       text NOT NULL,
    platform     text NOT NULL,
    PRIMARY KEY (index_digest, digest)
);
COMMENT ON TABLE platform_manifests IS 'which manifests an image index holds: a container''s imageID may be either digest';

CREATE TABLE promotions (
    id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    target_id        bigint      NOT NULL REFERENCES targets,
    release_id       bigint      NOT NULL REFERENCES releases,
    kind             text        NOT NULL CHECK (kind IN ('release', 'rollback', 'change')),
    state            text        NOT NULL CHECK (state IN ('requested', 'open', 'merged', 'syncing', 'live', 'verified',
                                     'superseded', 'rejected', 'cancelled', 'failed', 'rolled back')),
    requested_by     text        NOT NULL,
    requested_at     timestamptz NOT NULL,
    reason           text        NOT NULL DEFAULT '',
    started_by_build bigint REFERENCES builds,
    -- the decision
    decision         text        NOT NULL DEFAULT 'requested'
                                 CHECK (decision IN ('requested', 'cancelled', 'rejected', 'superseded')),
    decided_by       text        NOT NULL DEFAULT '',
    decided_at       timestamptz,
    decision_reason  text        NOT NULL DEFAULT '',
    superseded_by    bigint REFERENCES promotions,
    merge_asked_by   text        NOT NULL DEFAULT '',
    merge_asked_at   timestamptz,
    -- the pull request
    pull_request     text        NOT NULL DEFAULT 'none' CHECK (pull_request IN ('none', 'open', 'closed', 'merged')),
    branch           text        NOT NULL DEFAULT '',
    base_sha         text        NOT NULL DEFAULT '',
    head_sha         text        NOT NULL DEFAULT '',
    number           integer,
    url              text        NOT NULL DEFAULT '',
    rendered_hash    text        NOT NULL DEFAULT '',
    diff             text        NOT NULL DEFAULT '',
    body_hash        text        NOT NULL DEFAULT '',
    status_reported  text        NOT NULL DEFAULT '',
    merge_sha        text        NOT NULL DEFAULT '',
    merged_by        text        NOT NULL DEFAULT '',
    merged_at        timestamptz,
    cleaned_up       boolean     NOT NULL DEFAULT false,
    -- the deployment
    sync_asked_by    text        NOT NULL DEFAULT '',
    sync_asked_at    timestamptz,
    sync_started_at  timestamptz,
    synced_at        timestamptz,
    live_at          timestamptz,
    verified_at      timestamptz,
    overtaken_at     timestamptz,
    rolled_back_at   timestamptz,
    failure          text        NOT NULL DEFAULT '',
    waits_for        text        NOT NULL DEFAULT '',
    CHECK ((decision = 'requested') = (decided_at IS NULL)),
    CHECK ((pull_request = 'merged') = (merge_sha <> '' AND merged_at IS NOT NULL)),
    CHECK (pull_request IN ('none', 'merged') OR number IS NOT NULL),
    CHECK (verified_at IS NULL OR live_at IS NOT NULL),
    CHECK (state <> 'superseded' OR decision = 'superseded' OR overtaken_at IS NOT NULL)
);
COMMENT ON COLUMN promotions.state IS 'derived from the decision, the pull request and the deployment, in the same transaction';
COMMENT ON COLUMN promotions.waits_for IS 'one sentence: what it waits for and who must act';
CREATE UNIQUE INDEX promotions_one_open_per_target ON promotions (target_id)
    WHERE decision = 'requested' AND pull_request IN ('none', 'open') AND kind IN ('release', 'rollback');
CREATE INDEX promotions_by_target ON promotions (target_id, id DESC);
CREATE INDEX promotions_by_release ON promotions (release_id);
CREATE INDEX promotions_by_build ON promotions (started_by_build) WHERE started_by_build IS NOT NULL;
CREATE INDEX promotions_unfinished ON promotions (id)
    WHERE state IN ('requested', 'open', 'merged', 'syncing', 'live', 'failed') OR NOT cleaned_up;

CREATE TABLE approvals (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    promotion_id  bigint      NOT NULL REFERENCES promotions,
    actor         text        NOT NULL,
    roles         text[]      NOT NULL,
    decision      text        NOT NULL CHECK (decision IN ('approve', 'reject')),
    comment       text        NOT NULL DEFAULT '',
    rendered_hash text        NOT NULL,
    decided_at    timestamptz NOT NULL
);
COMMENT ON COLUMN approvals.rendered_hash IS 'the rendered result the person saw; another result needs another approval';
CREATE INDEX approvals_by_promotion ON approvals (promotion_id);

CREATE TABLE gate_results (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    promotion_id bigint      NOT NULL REFERENCES promotions,
    gate         text        NOT NULL,
    phase        text        NOT NULL CHECK (phase IN ('open', 'merge', 'sync')),
    mode         text        NOT NULL CHECK (mode IN ('report', 'enforce')),
    verdict      text        NOT NULL CHECK (verdict IN ('pass', 'wait', 'block')),
    reason       text        NOT NULL,
    until        timestamptz,
    inputs       jsonb       NOT NULL DEFAULT '{}',
    evaluated_at timestamptz NOT NULL,
    replaced_at  timestamptz
);
COMMENT ON TABLE gate_results IS 'every result that differed from the one before; the current ones have no replaced_at';
CREATE UNIQUE INDEX gate_results_current ON gate_results (promotion_id, gate, phase) WHERE replaced_at IS NULL;

CREATE TABLE target_revisions (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    target_id     bigint      NOT NULL REFERENCES targets,
    commit        text        NOT NULL,
    author        text        NOT NULL,
    message       text        NOT NULL,
    committed_at  timestamptz NOT NULL,
    rendered_hash text        NOT NULL,
    images        jsonb       NOT NULL,
    release_id    bigint REFERENCES releases,
    promotion_id  bigint REFERENCES promotions,
    UNIQUE (target_id, commit)
);
COMMENT ON TABLE target_revisions IS 'commits on the base branch''s first-parent history that changed what a target renders';
CREATE INDEX target_revisions_latest ON target_revisions (target_id, id DESC);

CREATE TABLE deployments (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    target_id       bigint REFERENCES targets,
    cluster         text        NOT NULL,
    namespace       text        NOT NULL,
    name            text        NOT NULL,
    simulated       boolean     NOT NULL DEFAULT false,
    repository_url  text        NOT NULL,
    path            text        NOT NULL,
    automated_sync  boolean     NOT NULL,
    sync            text        NOT NULL CHECK (sync IN ('Synced', 'OutOfSync', 'Unknown')),
    health          text        NOT NULL CHECK (health IN ('Healthy', 'Progressing', 'Degraded', 'Suspended', 'Missing', 'Unknown')),
    revision        text        NOT NULL DEFAULT '',
    compared_rev    text        NOT NULL DEFAULT '',
    operation       text        NOT NULL DEFAULT '',
    operation_rev   text        NOT NULL DEFAULT '',
    message         text        NOT NULL DEFAULT '',
    images          text[]      NOT NULL DEFAULT '{}',
    image_ids       text[]      NOT NULL DEFAULT '{}',
    containers      jsonb       NOT NULL DEFAULT '[]',
    rollout         jsonb       NOT NULL DEFAULT '{}',
    release_id      bigint REFERENCES releases,
    since           timestamptz NOT NULL,
    observed_at     timestamptz NOT NULL,
    UNIQUE (cluster, namespace, name)
);
COMMENT ON COLUMN deployments.compared_rev IS 'the commit that live objects match, only while Synced; it may never have been applied';
COMMENT ON TABLE deployments IS 'Argo CD Applications as last seen; since: when sync, health, revision or images last changed';
CREATE INDEX deployments_by_target ON deployments (target_id);

CREATE TABLE deployment_observations (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    deployment_id bigint      NOT NULL REFERENCES deployments,
    target_id     bigint REFERENCES targets,
    release_id    bigint REFERENCES releases,
    sync          text        NOT NULL,
    health        text        NOT NULL,
    revision      text        NOT NULL,
    operation     text        NOT NULL,
    message       text        NOT NULL,
    images        text[]      NOT NULL,
    image_ids     text[]      NOT NULL,
    observed_at   timestamptz NOT NULL,
    replaced_at   timestamptz
);
COMMENT ON TABLE deployment_observations IS 'what a deployment was seen to be, from observed_at until replaced_at; written on change only';
CREATE INDEX deployment_observations_at ON deployment_observations (target_id, observed_at DESC);
CREATE UNIQUE INDEX deployment_observations_current ON deployment_observations (deployment_id) WHERE replaced_at IS NULL;

CREATE TABLE audit_events (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at             timestamptz NOT NULL,
    actor          text        NOT NULL,
    actor_kind     text        NOT NULL CHECK (actor_kind IN ('person', 'token', 'system')),
    action         text        NOT NULL,
    object         text        NOT NULL,
    application    text        NOT NULL DEFAULT '',
    environment    text        NOT NULL DEFAULT '',
    release_id     bigint REFERENCES releases,
    promotion_id   bigint REFERENCES promotions,
    message        text        NOT NULL,
    before         jsonb,
    after          jsonb,
    request_id     text        NOT NULL DEFAULT '',
    source_address text        NOT NULL DEFAULT ''
);
COMMENT ON TABLE audit_events IS 'append-only: every decision and every change of state, in the transaction that made it';
CREATE INDEX audit_events_by_promotion ON audit_events (promotion_id, id) WHERE promotion_id IS NOT NULL;
CREATE INDEX audit_events_by_target ON audit_events (application, environment, id DESC);

-- +goose StatementBegin
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;
-- +goose StatementEnd
CREATE TRIGGER audit_events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE api_tokens (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text        NOT NULL UNIQUE,
    hash       bytea       NOT NULL UNIQUE,
    roles      text[]      NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz
);
COMMENT ON COLUMN api_tokens.hash IS 'SHA-256 of a 256-bit random token; the token itself is never stored';

CREATE TABLE sessions (
    token  text PRIMARY KEY,
    data   bytea       NOT NULL,
    expiry timestamptz NOT NULL
);
CREATE INDEX sessions_by_expiry ON sessions (expiry);

CREATE VIEW what_ran AS
SELECT a.name AS application, t.environment, d.cluster, r.version, r.number AS release_number, o.release_id,
       o.sync, o.health, o.revision, o.images, o.image_ids, o.message, o.observed_at AS from_time, o.replaced_at AS to_time
FROM deployment_observations o
JOIN deployments d ON d.id = o.deployment_id
JOIN targets t ON t.id = o.target_id
JOIN applications a ON a.id = t.application_id
LEFT JOIN releases r ON r.id = o.release_id;
COMMENT ON VIEW what_ran IS 'what ran where at any moment: where from_time <= T and (to_time is null or to_time > T)';

-- +goose Down
DROP VIEW what_ran, target_details;
DROP TABLE sessions, api_tokens, audit_events, deployment_observations, deployments, target_revisions, gate_results,
    approvals, promotions, platform_manifests, release_aliases, release_artifacts, releases, build_artifacts, builds, targets,
    applications, config_repositories;
DROP FUNCTION refuse_change;
