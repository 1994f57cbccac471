package gitea

import (
	"context"

	"code.gitea.io/sdk/gitea"

	"github.com/sluicehq/sluice/internal/promotion"
)

// SetStatus implements promotion.PullRequestHost.
func (h *Host) SetStatus(ctx context.Context, sha string, s promotion.CommitStatus) error {
	c, err := h.call(ctx)
	if err != nil {
		return err
	}
	set, _, err := c.CreateStatus(h.Owner, h.Repository, sha, gitea.CreateStatusOption{
		State: gitea.StatusState(s.State), TargetURL: s.URL, Description: s.Description, Context: s.Context})
	if err == nil && string(set.State) != s.State {
		err = errIncomplete
	}
	return c.failed(err, "set status %s on %s", s.Context, sha)
}
