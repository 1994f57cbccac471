-- +goose Up
ALTER TABLE approvals ADD COLUMN actor_kind text NOT NULL DEFAULT '' CHECK (actor_kind IN ('', 'person', 'token'));
COMMENT ON COLUMN approvals.actor_kind IS 'where to ask which roles the actor holds now: of a person the configuration, of a token api_tokens; empty for one from before this was stored: either';
COMMENT ON COLUMN approvals.roles IS 'of the actor then; it counts only while they still hold one that the policy asks for';

ALTER TABLE promotions ADD COLUMN standing_merge_kind text NOT NULL DEFAULT '' CHECK (standing_merge_kind IN ('', 'person', 'token'));
COMMENT ON COLUMN promotions.standing_merge_kind IS 'of standing_merge_by, as in approvals.actor_kind';

ALTER TABLE overrides ADD COLUMN given_by_kind text NOT NULL DEFAULT '' CHECK (given_by_kind IN ('', 'person', 'token'));
COMMENT ON COLUMN overrides.given_by_kind IS 'of given_by, as in approvals.actor_kind; it opens gates only while they hold break-glass';

COMMENT ON COLUMN api_tokens.revoked_at IS 'from when on it is nobody''s, with all that was approved with it and is not merged yet';

-- +goose Down
ALTER TABLE overrides DROP COLUMN given_by_kind;
ALTER TABLE promotions DROP COLUMN standing_merge_kind;
ALTER TABLE approvals DROP COLUMN actor_kind;
