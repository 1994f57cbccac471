package web

import (
	"context"
	"time"
)

// PullRequests is the built-in pull request host, for its pages. An unknown repository or number is
// promotion.ErrNotFound.
type PullRequests interface {
	// List is newest first.
	List(ctx context.Context, repository string) ([]PullRequestSummary, error)
	Get(ctx context.Context, repository string, number int) (PullRequest, error)
}

// PullRequestSummary is a pull request as a list shows it.
type PullRequestSummary struct {
	Number   int
	Title    string
	State    string // open, closed or merged
	Branch   string
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
