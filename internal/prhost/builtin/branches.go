package builtin

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/sluicehq/sluice/internal/prhost/builtin/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

// Branches lists the pushed branches that a pull request can be opened for: all but the base branch and those of open
// pull requests. ErrNotFound for a repository that is not there.
func (h *Host) Branches(ctx context.Context, repository string) ([]string, error) {
	r := h.repository(repository)
	if _, err := h.queries.RepositoryID(ctx, repository); err != nil {
		return nil, found(err, "repository %s", repository)
	}
	branches, err := r.branches(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the branches of %s: %w", repository, err)
	}
	open, err := h.queries.PullRequestsInState(ctx, dbsqlc.PullRequestsInStateParams{Repository: repository, State: string(promotion.PullRequestOpen)})
	if err != nil {
		return nil, fmt.Errorf("list the open pull requests of %s: %w", repository, err)
	}
	delete(branches, MainBranch)
	for _, p := range open {
		delete(branches, p.Branch)
	}
	return slices.Sorted(maps.Keys(branches)), nil
}
