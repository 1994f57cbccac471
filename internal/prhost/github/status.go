package github

import (
	"context"

	"github.com/google/go-github/v60/github"

	"github.com/sluicehq/sluice/internal/promotion"
)

// maxDescription is GitHub's limit for a status, in characters.
const maxDescription = 140

// SetStatus implements promotion.PullRequestHost.
func (h *Host) SetStatus(ctx context.Context, sha string, s promotion.CommitStatus) error {
	status := &github.RepoStatus{Context: &s.Context, State: &s.State, Description: github.String(clip(s.Description, maxDescription))}
	if s.URL != "" {
		status.TargetURL = &s.URL
	}
	set, _, err := h.client.Repositories.CreateStatus(ctx, h.Owner, h.Repository, sha, status)
	if err == nil && set.GetState() != s.State {
		err = errIncomplete
	}
	return h.failure(err, "set status %s on %s", s.Context, sha)
}
