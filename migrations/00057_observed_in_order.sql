-- +goose Up
ALTER TABLE deployment_observations ADD CONSTRAINT deployment_observations_in_order CHECK (replaced_at >= observed_at) NOT VALID;

-- +goose Down
ALTER TABLE deployment_observations DROP CONSTRAINT deployment_observations_in_order;
