-- +goose Up
CREATE SCHEMA prhost;
COMMENT ON SCHEMA prhost IS 'the built-in pull request host: what Git itself does not hold. Branches and commits are in its bare repositories';

CREATE TABLE prhost.repositories (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text        NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$'),
    last_number integer     NOT NULL DEFAULT 0 CHECK (last_number >= 0),
    created_at  timestamptz NOT NULL
);
COMMENT ON COLUMN prhost.repositories.last_number IS 'of the newest pull request; the row is locked by whoever changes pull requests of the repository';

CREATE TABLE prhost.pull_requests (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    repository_id bigint      NOT NULL REFERENCES prhost.repositories,
    number        integer     NOT NULL CHECK (number > 0),
    branch        text        NOT NULL CHECK (branch NOT IN ('', 'main')),
    title         text        NOT NULL CHECK (title <> ''),
    body          text        NOT NULL,
    state         text        NOT NULL CHECK (state IN ('open', 'closed', 'merged')),
    head_sha      text        NOT NULL CHECK (head_sha ~ '^[0-9a-f]{40}$'),
    main_sha      text        NOT NULL CHECK (main_sha ~ '^[0-9a-f]{40}$'),
    merge_sha     text        NOT NULL DEFAULT '' CHECK (merge_sha ~ '^([0-9a-f]{40})?$'),
    ended_by      text        NOT NULL DEFAULT '',
    ended_at      timestamptz,
    opened_at     timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    UNIQUE (repository_id, number),
    CHECK ((state = 'merged') = (merge_sha <> '')),
    CHECK ((state = 'open') = (ended_at IS NULL)),
    CHECK (state <> 'open' OR ended_by = '')
);
COMMENT ON COLUMN prhost.pull_requests.head_sha IS 'where the branch was at the last look, or at the end';
COMMENT ON COLUMN prhost.pull_requests.main_sha IS 'where main was at the last look before the end: a head that main holds later and did not hold here was merged';
COMMENT ON COLUMN prhost.pull_requests.merge_sha IS 'the first commit of main''s first-parent history that holds the head';
COMMENT ON COLUMN prhost.pull_requests.ended_by IS 'who merged or closed it';
CREATE UNIQUE INDEX pull_requests_one_open_per_branch ON prhost.pull_requests (repository_id, branch) WHERE state = 'open';
CREATE INDEX pull_requests_by_branch ON prhost.pull_requests (repository_id, branch, number DESC);

CREATE TABLE prhost.comments (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    pull_request_id bigint      NOT NULL REFERENCES prhost.pull_requests,
    author          text        NOT NULL CHECK (author <> ''),
    body            text        NOT NULL CHECK (body <> ''),
    at              timestamptz NOT NULL
);
CREATE INDEX comments_by_pull_request ON prhost.comments (pull_request_id, id);

CREATE TABLE prhost.statuses (
    repository_id bigint      NOT NULL REFERENCES prhost.repositories,
    sha           text        NOT NULL CHECK (sha ~ '^[0-9a-f]{40}$'),
    context       text        NOT NULL CHECK (context <> ''),
    state         text        NOT NULL CHECK (state IN ('pending', 'success', 'failure')),
    description   text        NOT NULL,
    url           text        NOT NULL,
    at            timestamptz NOT NULL,
    PRIMARY KEY (repository_id, sha, context)
);
COMMENT ON TABLE prhost.statuses IS 'the checks on a commit as they are now; what they were is in events of the pull request';

CREATE TABLE prhost.events (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    pull_request_id bigint      NOT NULL REFERENCES prhost.pull_requests,
    kind            text        NOT NULL CHECK (kind IN ('opened', 'pushed', 'status', 'merged', 'closed')),
    actor           text        NOT NULL,
    message         text        NOT NULL CHECK (message <> ''),
    at              timestamptz NOT NULL
);
COMMENT ON COLUMN prhost.events.actor IS 'empty when it is not known who did it';
CREATE INDEX events_by_pull_request ON prhost.events (pull_request_id, id);
CREATE UNIQUE INDEX events_one_end ON prhost.events (pull_request_id) WHERE kind IN ('merged', 'closed');

-- +goose Down
DROP TABLE prhost.events, prhost.statuses, prhost.comments, prhost.pull_requests, prhost.repositories;
DROP SCHEMA prhost;
