package builtin

import (
	"context"
	"fmt"
	"time"

	"github.com/sluicehq/sluice/internal/prhost/builtin/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

// Summary is a pull request as a list shows it.
type Summary struct {
	promotion.PullRequest
	OpenedAt time.Time
}

// Details is everything a page shows of a pull request.
type Details struct {
	Summary
	Body     string
	Comments []Comment
	Statuses []Status // of the head, by context
	Events   []Event  // oldest first
	Diff     Diff
}

// Comment is what somebody wrote below a pull request.
type Comment struct {
	Author, Body string
	At           time.Time
}

// Status is a commit status and when it was last set.
type Status struct {
	promotion.CommitStatus
	At time.Time
}

// Event is something that happened to a pull request.
type Event struct {
	Kind    string // opened, pushed, status, merged or closed
	Actor   string // empty when it is not known who did it
	Message string
	At      time.Time
}

// PullRequests lists a repository's pull requests, newest first; an empty
// state means all of them. ErrNotFound for a repository that is not there.
func (h *Host) PullRequests(ctx context.Context, repository string, state promotion.PullRequestState) ([]Summary, error) {
	r := h.repository(repository)
	if _, err := h.queries.RepositoryID(ctx, repository); err != nil {
		return nil, found(err, "repository %s", repository)
	}
	if err := r.lookAfter(ctx, push{}); err != nil {
		return nil, fmt.Errorf("list the pull requests of %s: %w", repository, err)
	}
	rows, err := h.queries.PullRequestsInState(ctx, dbsqlc.PullRequestsInStateParams{Repository: repository, State: string(state)})
	if err != nil {
		return nil, fmt.Errorf("list the pull requests of %s: %w", repository, err)
	}
	list := make([]Summary, len(rows))
	for i, p := range rows {
		list[i] = r.summary(p)
	}
	return list, nil
}

// PullRequest is one pull request with all that a page shows; ErrNotFound.
func (h *Host) PullRequest(ctx context.Context, repository string, number int) (Details, error) {
	r := h.repository(repository)
	p, err := r.current(ctx, r.numbered(ctx, number))
	if err != nil {
		return Details{}, fmt.Errorf("read pull request #%d: %w", number, err)
	}
	d := Details{Summary: r.summary(p), Body: p.Body}
	if err := r.told(ctx, p, &d); err != nil {
		return Details{}, fmt.Errorf("read what happened to pull request #%d: %w", number, err)
	}
	if d.Diff, err = r.diff(ctx, p.MainSha, p.HeadSha); err != nil {
		return Details{}, fmt.Errorf("compare pull request #%d with %s: %w", number, MainBranch, err)
	}
	return d, nil
}

func (r *repository) summary(p dbsqlc.PrhostPullRequest) Summary {
	return Summary{PullRequest: r.answer(p), OpenedAt: p.OpenedAt}
}

// told adds comments, statuses and events.
func (r *repository) told(ctx context.Context, p dbsqlc.PrhostPullRequest, d *Details) error {
	comments, err := r.queries.Comments(ctx, p.ID)
	if err != nil {
		return err
	}
	for _, c := range comments {
		d.Comments = append(d.Comments, Comment{Author: c.Author, Body: c.Body, At: c.At})
	}
	statuses, err := r.queries.Statuses(ctx, dbsqlc.StatusesParams{RepositoryID: p.RepositoryID, Sha: p.HeadSha})
	if err != nil {
		return err
	}
	for _, s := range statuses {
		status := promotion.CommitStatus{Context: s.Context, State: s.State, Description: s.Description, URL: s.Url}
		d.Statuses = append(d.Statuses, Status{CommitStatus: status, At: s.At})
	}
	events, err := r.queries.Events(ctx, p.ID)
	if err != nil {
		return err
	}
	for _, e := range events {
		d.Events = append(d.Events, Event{Kind: e.Kind, Actor: e.Actor, Message: e.Message, At: e.At})
	}
	return nil
}
