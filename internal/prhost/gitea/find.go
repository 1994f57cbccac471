package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"code.gitea.io/sdk/gitea"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Find implements promotion.PullRequestHost.
func (h *Host) Find(ctx context.Context, branch string) (promotion.PullRequest, error) {
	c, err := h.call(ctx)
	if err != nil {
		return promotion.PullRequest{}, err
	}
	p, err := c.newest(branch)
	if err != nil {
		return promotion.PullRequest{}, err
	}
	return c.read(p)
}

// newest is the newest pull request of a branch into the base branch; ErrNotFound.
// Gitea gives any of them by its branches, and the newest only in the list of all,
// which is read no further than to the one that is known.
func (c *call) newest(branch string) (*gitea.PullRequest, error) {
	h := c.host
	if branch == "" {
		return nil, errors.New("a pull request is looked for without a branch")
	}
	known, _, err := c.GetPullRequestByBaseHead(h.Owner, h.Repository, h.BaseBranch, branch)
	if c.refused(http.StatusNotFound) {
		if err := c.seen(); err != nil {
			return nil, fmt.Errorf("look for the pull request of %s: %w", branch, err)
		}
		return nil, fmt.Errorf("pull request of branch %s in %s: %w", branch, h.name(), promotion.ErrNotFound)
	}
	if err := c.failed(err, "look for the pull request of %s in %s", branch, h.name()); err != nil {
		return nil, err
	}
	if known.Index == 0 || known.Base == nil {
		return nil, fmt.Errorf("look for the pull request of %s: %w", branch, errIncomplete)
	}
	if known.State == gitea.StateOpen { // there is one at most
		return known, nil
	}
	return c.newerThan(known, branch)
}

// perPage is how many of a list Gitea gives at once, unless it is told to give fewer.
const perPage = 50

// isOf tells a pull request of this repository's branch, not of a fork's, into the base branch.
func (h *Host) isOf(p *gitea.PullRequest, branch string) bool {
	return p.Head != nil && p.Base != nil && p.Head.Name == branch && p.Head.RepoID == p.Base.RepoID && p.Base.Ref == h.BaseBranch
}

// newerThan reads the list, newest first, until it comes to the known one.
func (c *call) newerThan(known *gitea.PullRequest, branch string) (*gitea.PullRequest, error) {
	h := c.host
	for page := 1; page > 0; {
		list, answer, err := c.ListRepoPullRequests(h.Owner, h.Repository, gitea.ListPullRequestsOptions{
			State: gitea.StateAll, ListOptions: gitea.ListOptions{Page: page, PageSize: perPage}})
		if err := c.failed(err, "list the pull requests of %s", h.name()); err != nil {
			return nil, err
		}
		for _, p := range list {
			if p.Index <= known.Index {
				return known, nil
			}
			if h.isOf(p, branch) {
				return p, nil
			}
		}
		page = answer.NextPage
	}
	return known, nil
}
