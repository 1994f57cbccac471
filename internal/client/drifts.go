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
