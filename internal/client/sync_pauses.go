package client

import (
	"context"
	"net/http"

	"github.com/sluicehq/sluice/api"
)

// SyncPauses are the pauses of automatic sync that nobody has ended.
func (c *Client) SyncPauses(ctx context.Context) (api.SyncPauseList, error) {
	return call[api.SyncPauseList](ctx, c, http.MethodGet, "/api/v1/sync-pauses", nil, nil)
}

// PauseSync keeps Argo CD from syncing a target by itself.
func (c *Client) PauseSync(ctx context.Context, r api.SyncPauseRequest) (api.SyncPause, error) {
	return call[api.SyncPause](ctx, c, http.MethodPost, "/api/v1/sync-pauses", nil, r)
}

// ResumeSync has Argo CD sync a target by itself again; it answers with what is paused there afterwards.
func (c *Client) ResumeSync(ctx context.Context, r api.SyncResumeRequest) (api.SyncPauseList, error) {
	return call[api.SyncPauseList](ctx, c, http.MethodPost, "/api/v1/sync-pauses:resume", nil, r)
}
