-- +goose Up
-- Main can be forced back to a commit that was its head before: the same commit is then recorded again, as the newest.
ALTER TABLE target_revisions DROP CONSTRAINT target_revisions_target_id_commit_key;
CREATE INDEX target_revisions_commit ON target_revisions (commit);
COMMENT ON TABLE target_revisions IS 'commits on the base branch''s first-parent history that changed what a target renders; twice, when main was forced back to one';

-- +goose Down
DROP INDEX target_revisions_commit;
DELETE FROM target_revisions r USING target_revisions later
WHERE later.target_id = r.target_id AND later.commit = r.commit AND later.id > r.id;
ALTER TABLE target_revisions ADD UNIQUE (target_id, commit);
COMMENT ON TABLE target_revisions IS 'commits on the base branch''s first-parent history that changed what a target renders';
