-- +goose Up
ALTER TABLE prhost.pull_requests ADD COLUMN opened_by text NOT NULL DEFAULT 'sluice' CHECK (opened_by <> '');
ALTER TABLE prhost.comments ADD COLUMN marker text NOT NULL DEFAULT '';
COMMENT ON COLUMN prhost.comments.marker IS 'by which the comment is found again to be replaced; empty for one that stays as it is';
CREATE UNIQUE INDEX comments_one_per_marker ON prhost.comments (pull_request_id, marker) WHERE marker <> '';

-- +goose Down
ALTER TABLE prhost.comments DROP COLUMN marker;
ALTER TABLE prhost.pull_requests DROP COLUMN opened_by;
