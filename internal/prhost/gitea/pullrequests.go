package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"code.gitea.io/sdk/gitea"

	"github.com/sluicehq/sluice/internal/promotion"
)

var _ promotion.PullRequestHost = (*Host)(nil)

// maxTitle is Gitea's limit in characters.
const maxTitle = 255

// Open implements promotion.PullRequestHost.
func (h *Host) Open(ctx context.Context, r promotion.NewPullRequest) (promotion.PullRequest, error) {
	c, err := h.call(ctx)
	if err != nil {
		return promotion.PullRequest{}, err
	}
	p, err := c.newest(r.Branch)
	switch {
	case err == nil && p.State == gitea.StateOpen:
		return c.read(p)
	case err != nil && !errors.Is(err, promotion.ErrNotFound):
		return promotion.PullRequest{}, err
	}
	if err := c.changesSomething(r.Branch); err != nil {
		return promotion.PullRequest{}, fmt.Errorf("open a pull request for %s in %s: %w", r.Branch, h.name(), err)
	}
	made, _, err := c.CreatePullRequest(h.Owner, h.Repository, gitea.CreatePullRequestOption{
		Head: r.Branch, Base: h.BaseBranch, Title: clip(r.Title, maxTitle), Body: r.Body})
	if c.refused(http.StatusConflict) {
		// The answer to an earlier call was lost, or another server was quicker.
		if p, findErr := c.newest(r.Branch); findErr == nil && p.State == gitea.StateOpen {
			return c.read(p)
		}
	}
	if err := c.failed(err, "open a pull request for %s in %s", r.Branch, h.name()); err != nil {
		return promotion.PullRequest{}, err
	}
	if made, err = c.orOlder(made); err != nil {
		return promotion.PullRequest{}, err
	}
	return c.read(made)
}

// orOlder gives way to a pull request of the same branch that another call opened
// meanwhile, such as one that timed out and went on: Gitea does not keep two calls
// at once from opening one each.
func (c *call) orOlder(made *gitea.PullRequest) (*gitea.PullRequest, error) {
	h := c.host
	list, _, err := c.ListRepoPullRequests(h.Owner, h.Repository, gitea.ListPullRequestsOptions{
		State: gitea.StateOpen, ListOptions: gitea.ListOptions{PageSize: perPage}}) // newest first; the other is about as new
	if err := c.failed(err, "list the open pull requests of %s", h.name()); err != nil {
		return nil, err
	}
	oldest := made
	for _, p := range list {
		if p.Index < oldest.Index && made.Head != nil && h.isOf(p, made.Head.Name) {
			oldest = p
		}
	}
	if oldest == made {
		return made, nil
	}
	return oldest, c.close(made, fmt.Sprintf("Opened twice at once: #%d stays.", oldest.Index))
}

// changesSomething refuses a branch that the base branch holds already: Gitea
// opens a pull request for one, and counts it as merged at the next look.
func (c *call) changesSomething(branch string) error {
	compared, _, err := c.CompareCommits(c.host.Owner, c.host.Repository, c.host.BaseBranch, branch)
	if err := c.failed(err, "compare %s with %s", branch, c.host.BaseBranch); err != nil {
		return err
	}
	if compared.TotalCommits == 0 {
		return fmt.Errorf("%s has no commit that %s lacks", branch, c.host.BaseBranch)
	}
	return nil
}

// Get implements promotion.PullRequestHost.
func (h *Host) Get(ctx context.Context, number int) (promotion.PullRequest, error) {
	c, err := h.call(ctx)
	if err != nil {
		return promotion.PullRequest{}, err
	}
	p, err := c.get(number)
	if err != nil {
		return promotion.PullRequest{}, err
	}
	return c.read(p)
}

func (c *call) get(number int) (*gitea.PullRequest, error) {
	h := c.host
	p, _, err := c.GetPullRequest(h.Owner, h.Repository, int64(number))
	if c.refused(http.StatusNotFound) {
		if err := c.seen(); err != nil {
			return nil, fmt.Errorf("read pull request #%d: %w", number, err)
		}
		return nil, fmt.Errorf("read pull request #%d in %s: %w", number, h.name(), promotion.ErrNotFound)
	}
	if err := c.failed(err, "read pull request #%d", number); err != nil {
		return nil, err
	}
	if p.Index != int64(number) {
		return nil, fmt.Errorf("read pull request #%d: %w", number, errIncomplete)
	}
	return p, nil
}

// seen tells a repository that is gone, renamed or hidden from one that lacks what was
// asked for: the domain must not take the first for the second.
func (c *call) seen() error {
	_, _, err := c.GetRepo(c.host.Owner, c.host.Repository)
	if c.refused(http.StatusNotFound) {
		return fmt.Errorf("the token may see no repository %s on Gitea: check its name in the configuration and the access of the token's user", c.host.name())
	}
	return c.failed(err, "read repository %s", c.host.name())
}

// Update implements promotion.PullRequestHost. On Gitea a draft is one by its
// title, so the title of a draft stays: whether it is ready is for people to say.
func (h *Host) Update(ctx context.Context, number int, title, body string) error {
	c, err := h.call(ctx)
	if err != nil {
		return err
	}
	p, err := c.get(number)
	if err != nil {
		return err
	}
	edit := gitea.EditPullRequestOption{Title: clip(title, maxTitle), Body: &body}
	if p.Draft {
		edit.Title = ""
	}
	edited, _, err := c.EditPullRequest(h.Owner, h.Repository, int64(number), edit)
	if err == nil && edited.Index != int64(number) {
		err = errIncomplete
	}
	return c.failed(err, "update pull request #%d", number)
}

// clip shortens a text to a limit in characters.
func clip(s string, limit int) string {
	r := []rune(s)
	if len(r) <= limit {
		return s
	}
	return string(r[:limit-1]) + "…"
}
