package web

import (
	"context"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// PullRequests is the built-in pull request host, for its pages. An unknown repository or number is
// promotion.ErrNotFound.
type PullRequests interface {
	// List is newest first.
	List(ctx context.Context, repository string) ([]PullRequestSummary, error)
	Get(ctx context.Context, repository string, number int) (PullRequest, error)
	// Branches are those that somebody pushed and that no open pull request is for.
	Branches(ctx context.Context, repository string) ([]string, error)
	// Open opens one for a pushed branch, or returns the number of the one that is open for it already.
	// promotion.ErrNotFound when nobody pushed the branch, promotion.ErrNotMergeable when it has nothing new.
	Open(ctx context.Context, by promotion.Actor, repository, branch, title, body string) (number int, err error)
	// Merge merges it if its head is this one. promotion.ErrHeadMoved, promotion.ErrConflict, promotion.ErrNotMergeable
	// while a required check is not green.
	Merge(ctx context.Context, by promotion.Actor, repository string, number int, head string) error
	// Close closes it without merging.
	Close(ctx context.Context, by promotion.Actor, repository string, number int) error
}

// PullRequestSummary is a pull request as a list shows it.
type PullRequestSummary struct {
	Number   int
	Title    string
	State    string // open, closed or merged
	Branch   string
	Author   string
	OpenedAt time.Time
}

// PullRequest is everything that a page shows of one.
type PullRequest struct {
	PullRequestSummary
	Body     string // Markdown
	HeadSHA  string
	MergeSHA string
	MergedBy string // or who closed it
	Comments []PullRequestComment
	Statuses []PullRequestStatus
	Diff     string // unified, of all files
	Cut      bool   // there is more than Diff has
}

// PullRequestComment is what somebody wrote below a pull request.
type PullRequestComment struct {
	Author, Body string // Body is Markdown
	At           time.Time
}

// PullRequestStatus is a check on a pull request's head.
type PullRequestStatus struct {
	Context     string
	State       string // pending, success or failure
	Description string
	URL         string
	At          time.Time
}
