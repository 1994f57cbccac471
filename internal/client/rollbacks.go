package client

import (
	"context"
	"net/http"

	"github.com/sluicehq/sluice/api"
)

// CheckRollback says what a target can go back to; to names the one release to look at, and is empty for all.
func (c *Client) CheckRollback(ctx context.Context, application, environment, to string) (api.RollbackCheck, error) {
	q := query{"application": application, "environment": environment, "to": to}
	return call[api.RollbackCheck](ctx, c, http.MethodGet, "/api/v1/rollbacks", q, nil)
}

// PlanRollback says what going back would change.
func (c *Client) PlanRollback(ctx context.Context, r api.RollbackRequest) (api.RestorationPlan, error) {
	return call[api.RestorationPlan](ctx, c, http.MethodPost, "/api/v1/rollbacks:plan", nil, r)
}

// StartRollback goes back to what a target was.
func (c *Client) StartRollback(ctx context.Context, r api.RollbackRequest) (api.Promotion, error) {
	return call[api.Promotion](ctx, c, http.MethodPost, "/api/v1/rollbacks", nil, r)
}
