package client

import (
	"context"
	"net/http"
	"strconv"

	"github.com/sluicehq/sluice/api"
)

// Drifts are the fields of live objects that are not as Git says, newest first.
func (c *Client) Drifts(ctx context.Context, application, environment string, open bool, limit int) (api.DriftList, error) {
	return call[api.DriftList](ctx, c, http.MethodGet, "/api/v1/drifts", query{"application": application, "environment": environment,
		"open": strconv.FormatBool(open), "limit": strconv.Itoa(limit)}, nil)
}

// PlanAdoption says what making Git say what was changed past it would change.
func (c *Client) PlanAdoption(ctx context.Context, r api.AdoptionRequest) (api.AdoptionPlan, error) {
	return call[api.AdoptionPlan](ctx, c, http.MethodPost, "/api/v1/adoptions:plan", nil, r)
}

// Adopt makes Git say it, through a promotion.
func (c *Client) Adopt(ctx context.Context, r api.AdoptionRequest) (api.Promotion, error) {
	return call[api.Promotion](ctx, c, http.MethodPost, "/api/v1/adoptions", nil, r)
}
