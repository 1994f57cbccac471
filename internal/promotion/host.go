package promotion

import (
	"context"
	"time"
)

// PullRequestHost is where pull requests are reviewed and merged.
type PullRequestHost interface {
	// Open makes a pull request for a pushed branch, or returns the one that
	// is open for it already.
	Open(ctx context.Context, r NewPullRequest) (PullRequest, error)
	// Find is the newest pull request of a branch in any state; ErrNotFound.
	Find(ctx context.Context, branch string) (PullRequest, error)
	// Get is one pull request; ErrNotFound.
	Get(ctx context.Context, number int) (PullRequest, error)
	// ListOpen lists the open pull requests against the base branch, whoever opened them.
	ListOpen(ctx context.Context) ([]PullRequest, error)
	// Update sets title and body.
	Update(ctx context.Context, number int, title, body string) error
	// Merge merges if the head is exactly the expected commit and returns the
	// merge commit. A pull request merged already with that head is no error.
	// A host that knows no other method than its own uses that. ErrHeadMoved, ErrConflict, ErrNotMergeable.
	Merge(ctx context.Context, number int, expectedHead, message string, by Actor, method MergeMethod) (mergeSHA string, err error)
	// Comment writes a comment that begins with the marker, or replaces the text of the one that does. The marker is one line
	// that people do not see.
	Comment(ctx context.Context, number int, marker, text string) error
	// Reviews are people's newest decisive reviews of a pull request, one of each person, oldest first. One that a person has
	// dismissed is left out; one that the host dismissed by itself after a push is not.
	Reviews(ctx context.Context, number int) ([]Review, error)
	// Close closes without merging and leaves a comment. Closed is no error.
	Close(ctx context.Context, number int, comment string) error
	// SetStatus sets one commit status.
	SetStatus(ctx context.Context, sha string, s CommitStatus) error
	// Protection says what the host enforces on the base branch.
	Protection(ctx context.Context) (Protection, error)
}

// MergeMethod is how a pull request is put on the base branch; empty: as the repository's configuration says.
type MergeMethod string

// The methods of merging.
const (
	MergeCommit MergeMethod = "merge"
	MergeSquash MergeMethod = "squash"
	MergeRebase MergeMethod = "rebase"
)

// NewPullRequest is a pull request to be opened against the base branch.
type NewPullRequest struct {
	Branch, Head, Title, Body string
}

// PullRequest is what the host says of one.
type PullRequest struct {
	Number   int
	URL      string
	State    PullRequestState // open, closed or merged
	Title    string
	Author   string
	Branch   string
	Ref      string // full, by which the head is fetched from the base's repository, such as refs/pull/7/head
	HeadSHA  string
	BaseRef  string
	MergeSHA string
	MergedBy string // of an open one: who merged, while the host is not sure that it was a merge
	ClosedBy string
	Draft    bool
	At       time.Time // of the last change
}

// Review is a person's decision at the host.
type Review struct {
	Author  string // as the host calls them
	Verdict ReviewVerdict
	Head    string // the commit that was reviewed
	Comment string
	At      time.Time
}

// ReviewVerdict is what a review says.
type ReviewVerdict string

// The verdicts of reviews that decide something.
const (
	ReviewApproves      ReviewVerdict = "approves"
	ReviewAsksForChange ReviewVerdict = "asks for changes"
)

// CommitStatus is a check shown on a commit; Context is sluice/gates.
type CommitStatus struct {
	Context     string
	State       string // pending, success, failure
	Description string
	URL         string
}

// Protection is what the host enforces on the base branch.
type Protection struct {
	Missing []string // in words, what is not enforced; empty when all is
}
