package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/go-github/v60/github"

	"github.com/sluicehq/sluice/internal/promotion"
)

var _ promotion.PullRequestHost = (*Host)(nil)

// GitHub's limits in characters; longer texts are refused whole.
const (
	maxTitle = 256
	maxBody  = 65_536
)

// perPage is as many of a list as GitHub gives at once.
const perPage = 100

// Open implements promotion.PullRequestHost.
func (h *Host) Open(ctx context.Context, r promotion.NewPullRequest) (promotion.PullRequest, error) {
	if p, err := h.open(ctx, r.Branch); err == nil || !errors.Is(err, promotion.ErrNotFound) {
		return p, err
	}
	made, _, err := h.client.PullRequests.Create(ctx, h.Owner, h.Repository, &github.NewPullRequest{
		Head: &r.Branch, Base: &h.BaseBranch, Title: github.String(clip(r.Title, maxTitle)), Body: github.String(clip(r.Body, maxBody)),
	})
	if refused(err, http.StatusUnprocessableEntity) {
		// The answer to an earlier call was lost, or another server was quicker.
		if p, findErr := h.open(ctx, r.Branch); findErr == nil {
			return p, nil
		}
	}
	if err != nil {
		return promotion.PullRequest{}, h.failure(err, "open a pull request for %s in %s", r.Branch, h.name())
	}
	return h.read(ctx, made)
}

func (h *Host) open(ctx context.Context, branch string) (promotion.PullRequest, error) {
	return h.newest(ctx, branch, "open")
}

// Find implements promotion.PullRequestHost.
func (h *Host) Find(ctx context.Context, branch string) (promotion.PullRequest, error) {
	return h.newest(ctx, branch, "all")
}

func (h *Host) newest(ctx context.Context, branch, state string) (promotion.PullRequest, error) {
	if branch == "" {
		return promotion.PullRequest{}, errors.New("a pull request is looked for without a branch") // GitHub would list them all
	}
	list, _, err := h.client.PullRequests.List(ctx, h.Owner, h.Repository, &github.PullRequestListOptions{
		Head: h.Owner + ":" + branch, Base: h.BaseBranch, State: state, Sort: "created", Direction: "desc", ListOptions: github.ListOptions{PerPage: 10},
	})
	if err != nil {
		return promotion.PullRequest{}, h.unlisted(err, "look for the pull request of %s in %s", branch, h.name())
	}
	for _, p := range list {
		switch {
		case branchOf(p) != branch:
		case p.GetState() == "open":
			return h.read(ctx, p)
		default:
			return h.Get(ctx, p.GetNumber()) // the list does not say who merged it
		}
	}
	return promotion.PullRequest{}, fmt.Errorf("pull request of branch %s in %s: %w", branch, h.name(), promotion.ErrNotFound)
}

// unlisted is the failure of a list. Its 404 is of the repository: the domain must not take it for a branch without a pull request.
func (h *Host) unlisted(err error, format string, args ...any) error {
	if refused(err, http.StatusNotFound) {
		return fmt.Errorf("GitHub has no repository %s that the token may see: check its name in the configuration and what the App or token is allowed", h.name())
	}
	return h.failure(err, format, args...)
}

// Get implements promotion.PullRequestHost.
func (h *Host) Get(ctx context.Context, number int) (promotion.PullRequest, error) {
	p, err := h.get(ctx, number)
	if err != nil {
		return promotion.PullRequest{}, err
	}
	return h.read(ctx, p)
}

// ListOpen implements promotion.PullRequestHost.
func (h *Host) ListOpen(ctx context.Context) ([]promotion.PullRequest, error) {
	const few = 30 // each takes some 20 kB, and a page has to be short enough to be remembered
	var open []promotion.PullRequest
	for page := (github.ListOptions{PerPage: few, Page: 1}); page.Page != 0; {
		list, answer, err := h.client.PullRequests.List(ctx, h.Owner, h.Repository, &github.PullRequestListOptions{
			Base: h.BaseBranch, State: "open", Sort: "created", Direction: "asc", ListOptions: page})
		if err != nil {
			return nil, h.unlisted(err, "list the open pull requests of %s", h.name())
		}
		for _, p := range list {
			r, err := h.read(ctx, p)
			if err != nil {
				return nil, err
			}
			open = append(open, r)
		}
		page.Page = answer.NextPage
	}
	return open, nil
}

func (h *Host) get(ctx context.Context, number int) (*github.PullRequest, error) {
	p, _, err := h.client.PullRequests.Get(ctx, h.Owner, h.Repository, number)
	if refused(err, http.StatusNotFound) { // of the number, or of a repository that was renamed or hidden?
		if _, listErr := h.open(ctx, h.BaseBranch); listErr != nil && !errors.Is(listErr, promotion.ErrNotFound) {
			return nil, errors.Join(fmt.Errorf("read pull request #%d", number), listErr)
		}
	}
	if err != nil {
		return nil, h.failure(err, "read pull request #%d", number)
	}
	if p.GetNumber() != number {
		return nil, fmt.Errorf("read pull request #%d: %w", number, errIncomplete)
	}
	return p, nil
}

// Update implements promotion.PullRequestHost.
func (h *Host) Update(ctx context.Context, number int, title, body string) error {
	p, _, err := h.client.PullRequests.Edit(ctx, h.Owner, h.Repository, number, &github.PullRequest{
		Title: github.String(clip(title, maxTitle)), Body: github.String(clip(body, maxBody)),
	})
	if err == nil && p.GetNumber() != number {
		err = errIncomplete
	}
	return h.failure(err, "update pull request #%d", number)
}

// errIncomplete: go-github takes an empty body for an empty answer.
var errIncomplete = errors.New("GitHub's answer is not complete")

// read turns GitHub's pull request into ours.
func (h *Host) read(ctx context.Context, p *github.PullRequest) (promotion.PullRequest, error) {
	r := promotion.PullRequest{
		Number: p.GetNumber(), URL: p.GetHTMLURL(), Title: p.GetTitle(), Author: p.GetUser().GetLogin(),
		Branch: branchOf(p), Ref: fmt.Sprintf("refs/pull/%d/head", p.GetNumber()), HeadSHA: p.GetHead().GetSHA(),
		BaseRef: p.GetBase().GetRef(), Draft: p.GetDraft(), At: p.GetUpdatedAt().Time,
	}
	if r.Number == 0 || r.HeadSHA == "" || r.BaseRef == "" {
		return promotion.PullRequest{}, fmt.Errorf("read a pull request: %w", errIncomplete)
	}
	switch {
	case p.GetMerged():
		// Before the merge this field is a trial merge that is on no branch.
		r.State, r.MergeSHA, r.MergedBy = promotion.PullRequestMerged, p.GetMergeCommitSHA(), p.GetMergedBy().GetLogin()
		if r.MergeSHA == "" {
			return promotion.PullRequest{}, fmt.Errorf("read the merge of pull request #%d: %w", r.Number, errIncomplete)
		}
	case p.GetState() == "open":
		r.State = promotion.PullRequestOpen
	case p.GetState() == "closed":
		by, err := h.closedBy(ctx, r.Number)
		if err != nil {
			return promotion.PullRequest{}, err
		}
		r.State, r.ClosedBy = promotion.PullRequestClosed, by
	default:
		return promotion.PullRequest{}, fmt.Errorf("pull request #%d is in the state %q, which is not known", r.Number, p.GetState())
	}
	return r, nil
}

// branchOf is the head's branch; one of a fork is written owner:branch, lest it be taken for a branch of the repository.
func branchOf(p *github.PullRequest) string {
	head := p.GetHead()
	if head.GetRepo().GetID() == p.GetBase().GetRepo().GetID() {
		return head.GetRef()
	}
	return head.GetUser().GetLogin() + ":" + head.GetRef()
}

// closedBy asks the issue that every pull request is: the pull request itself
// does not tell.
func (h *Host) closedBy(ctx context.Context, number int) (string, error) {
	issue, _, err := h.client.Issues.Get(ctx, h.Owner, h.Repository, number)
	if err != nil {
		return "", h.failure(err, "read who closed pull request #%d", number)
	}
	return issue.GetClosedBy().GetLogin(), nil
}

// clip shortens a text to GitHub's limit.
func clip(s string, limit int) string {
	r := []rune(s)
	if len(r) <= limit {
		return s
	}
	return string(r[:limit-1]) + "…"
}
