package builtin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/prhost/builtin/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

var _ promotion.PullRequestHost = (*repository)(nil)

// Open implements promotion.PullRequestHost.
func (r *repository) Open(ctx context.Context, n promotion.NewPullRequest) (promotion.PullRequest, error) {
	return r.open(ctx, n, promotion.Sluice())
}

// Open opens a pull request for a person, or returns the one that is open for the branch already.
func (h *Host) Open(ctx context.Context, repository string, n promotion.NewPullRequest, by promotion.Actor) (promotion.PullRequest, error) {
	return h.repository(repository).open(ctx, n, by)
}

func (r *repository) open(ctx context.Context, n promotion.NewPullRequest, by promotion.Actor) (promotion.PullRequest, error) {
	if n.Branch == MainBranch || n.Title == "" {
		return promotion.PullRequest{}, invalid("a pull request needs a title and a branch other than " + MainBranch)
	}
	var p dbsqlc.PrhostPullRequest
	err := r.exclusively(ctx, func(q *dbsqlc.Queries, id int64) error {
		newest, branches, err := r.look(ctx, q, r.ofBranch(ctx, n.Branch))
		if errors.Is(err, promotion.ErrNotFound) {
			branches, err = r.branches(ctx)
		}
		if err != nil {
			return err
		}
		if err := r.openable(ctx, n, branches); err != nil {
			return err
		}
		if newest.State == string(promotion.PullRequestOpen) {
			p = newest
			return nil
		}
		p, err = r.add(ctx, q, id, n, branches, by)
		return err
	})
	if err != nil {
		return promotion.PullRequest{}, fmt.Errorf("open a pull request for %s: %w", n.Branch, err)
	}
	return r.answer(p), nil
}

func (r *repository) openable(ctx context.Context, n promotion.NewPullRequest, branches map[string]string) error {
	head := branches[n.Branch]
	if head == "" {
		return fmt.Errorf("branch %s of repository %s, push it first: %w", n.Branch, r.name, promotion.ErrNotFound)
	}
	if n.Head != "" && n.Head != head {
		return fmt.Errorf("the branch is at %s, not at %s: %w", head, n.Head, promotion.ErrHeadMoved)
	}
	empty, err := r.contains(ctx, branches[MainBranch], head)
	if err == nil && empty {
		return fmt.Errorf("the branch has no commit that %s has not: %w", MainBranch, promotion.ErrNotMergeable)
	}
	return err
}

func (r *repository) add(ctx context.Context, q *dbsqlc.Queries, repositoryID int64, n promotion.NewPullRequest, branches map[string]string, by promotion.Actor) (dbsqlc.PrhostPullRequest, error) {
	number, err := q.NextNumber(ctx, repositoryID)
	if err != nil {
		return dbsqlc.PrhostPullRequest{}, err
	}
	p, err := q.AddPullRequest(ctx, dbsqlc.AddPullRequestParams{RepositoryID: repositoryID, Number: number, Branch: n.Branch,
		Title: n.Title, Body: n.Body, HeadSha: branches[n.Branch], MainSha: branches[MainBranch], OpenedBy: by.Name, At: r.Clock()})
	if err != nil {
		return p, err
	}
	return p, q.AddEvent(ctx, dbsqlc.AddEventParams{PullRequestID: p.ID, Kind: "opened", Actor: by.Name,
		Message: "opened at " + p.HeadSha, At: p.OpenedAt})
}

// Find implements promotion.PullRequestHost.
func (r *repository) Find(ctx context.Context, branch string) (promotion.PullRequest, error) {
	p, err := r.current(ctx, r.ofBranch(ctx, branch))
	if err != nil {
		return promotion.PullRequest{}, fmt.Errorf("find the pull request of %s: %w", branch, err)
	}
	return r.answer(p), nil
}

// Get implements promotion.PullRequestHost.
func (r *repository) Get(ctx context.Context, number int) (promotion.PullRequest, error) {
	p, err := r.current(ctx, r.numbered(ctx, number))
	if err != nil {
		return promotion.PullRequest{}, fmt.Errorf("read pull request #%d: %w", number, err)
	}
	return r.answer(p), nil
}

// ListOpen implements promotion.PullRequestHost.
func (r *repository) ListOpen(ctx context.Context) ([]promotion.PullRequest, error) {
	all, err := r.PullRequests(ctx, r.name, promotion.PullRequestOpen)
	open := make([]promotion.PullRequest, len(all))
	for i, p := range all {
		open[i] = p.PullRequest
	}
	return open, err
}

// Comment implements promotion.PullRequestHost. Pages show the text without the marker.
func (r *repository) Comment(ctx context.Context, number int, marker, text string) error {
	p, err := r.numbered(ctx, number)(r.queries)
	if err == nil {
		err = r.queries.SetComment(ctx, dbsqlc.SetCommentParams{PullRequestID: p.ID, Author: promotion.Sluice().Name, Body: text, At: r.Clock(), Marker: marker})
	}
	if err != nil {
		return fmt.Errorf("comment on pull request #%d: %w", number, err)
	}
	return nil
}

// Reviews implements promotion.PullRequestHost. People approve in Sluice itself: there is nothing to tell.
func (r *repository) Reviews(context.Context, int) ([]promotion.Review, error) { return nil, nil }

// Update implements promotion.PullRequestHost.
func (r *repository) Update(ctx context.Context, number int, title, body string) error {
	if title == "" {
		return invalid("a pull request needs a title")
	}
	p, err := r.numbered(ctx, number)(r.queries)
	if err == nil {
		err = r.queries.SetText(ctx, dbsqlc.SetTextParams{ID: p.ID, Title: title, Body: body, At: r.Clock()})
	}
	if err != nil {
		return fmt.Errorf("update pull request #%d: %w", number, err)
	}
	return nil
}

// Close implements promotion.PullRequestHost.
func (r *repository) Close(ctx context.Context, number int, comment string) error {
	return r.close(ctx, number, comment, promotion.Sluice())
}

// Close closes a pull request for a person, as Repository's Close does for Sluice.
func (h *Host) Close(ctx context.Context, repository string, number int, comment string, by promotion.Actor) error {
	return h.repository(repository).close(ctx, number, comment, by)
}

func (r *repository) close(ctx context.Context, number int, comment string, by promotion.Actor) error {
	err := r.exclusively(ctx, func(q *dbsqlc.Queries, _ int64) error {
		p, _, err := r.look(ctx, q, r.numbered(ctx, number))
		if err != nil {
			return err
		}
		switch promotion.PullRequestState(p.State) {
		case promotion.PullRequestClosed:
			return nil
		case promotion.PullRequestMerged:
			return &promotion.Error{Kind: promotion.Conflict, Code: "pull-request-merged",
				Message: "it was merged as " + p.MergeSha + " and can be reverted, but no longer closed"}
		}
		if comment = strings.TrimSpace(comment); comment != "" {
			err := q.AddComment(ctx, dbsqlc.AddCommentParams{PullRequestID: p.ID, Author: by.Name, Body: comment, At: r.Clock()})
			if err != nil {
				return err
			}
		}
		_, err = r.end(ctx, q, p, ending{state: promotion.PullRequestClosed, head: p.HeadSha, by: by.Name, message: "closed without merging"})
		return err
	})
	if err != nil {
		return fmt.Errorf("close pull request #%d: %w", number, err)
	}
	return nil
}

// SetStatus implements promotion.PullRequestHost.
func (r *repository) SetStatus(ctx context.Context, sha string, s promotion.CommitStatus) error {
	err := r.exclusively(ctx, func(q *dbsqlc.Queries, id int64) error {
		if !r.holds(ctx, sha) {
			return fmt.Errorf("commit %q: %w", sha, promotion.ErrNotFound)
		}
		before, err := q.Status(ctx, dbsqlc.StatusParams{RepositoryID: id, Sha: sha, Context: s.Context})
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		now := r.Clock()
		err = q.SetStatus(ctx, dbsqlc.SetStatusParams{RepositoryID: id, Sha: sha, Context: s.Context, State: s.State,
			Description: s.Description, Url: s.URL, At: now})
		if err != nil || before.State == s.State {
			return err
		}
		return q.AddStatusEvents(ctx, dbsqlc.AddStatusEventsParams{RepositoryID: id, Sha: sha, Actor: promotion.Sluice().Name,
			Message: strings.TrimSpace(fmt.Sprintf("%s is %s: %s", s.Context, s.State, s.Description)), At: now})
	})
	if err != nil {
		return fmt.Errorf("set status %s of %s: %w", s.Context, sha, err)
	}
	return nil
}

// Protection implements promotion.PullRequestHost. A status needs no pinning
// here: only Sluice itself can set one.
func (r *repository) Protection(context.Context) (promotion.Protection, error) {
	var missing []string
	if !r.Protected {
		missing = append(missing,
			"release managers and admins may push to main directly, past every pull request",
			"main may be force-pushed, which rewrites its history")
	}
	if r.RequiredStatus == "" {
		missing = append(missing, "no commit status is required before a merge")
	}
	return promotion.Protection{Missing: missing}, nil
}

func invalid(message string) error {
	return &promotion.Error{Kind: promotion.Invalid, Code: "pull-request", Message: message}
}

func (r *repository) ofBranch(ctx context.Context, branch string) func(*dbsqlc.Queries) (dbsqlc.PrhostPullRequest, error) {
	return func(q *dbsqlc.Queries) (dbsqlc.PrhostPullRequest, error) {
		p, err := q.NewestOfBranch(ctx, dbsqlc.NewestOfBranchParams{Repository: r.name, Branch: branch})
		return p, found(err, "a pull request of branch %s in repository %s", branch, r.name)
	}
}

func (r *repository) numbered(ctx context.Context, number int) func(*dbsqlc.Queries) (dbsqlc.PrhostPullRequest, error) {
	return func(q *dbsqlc.Queries) (dbsqlc.PrhostPullRequest, error) {
		p, err := q.PullRequest(ctx, dbsqlc.PullRequestParams{Repository: r.name, Number: int32(number)})
		return p, found(err, "pull request #%d in repository %s", number, r.name)
	}
}

// answer is a row in the domain's words.
func (r *repository) answer(p dbsqlc.PrhostPullRequest) promotion.PullRequest {
	a := promotion.PullRequest{
		Number: int(p.Number), URL: r.pullRequestURL(r.name, p.Number), State: promotion.PullRequestState(p.State),
		Title: p.Title, Author: p.OpenedBy, Branch: p.Branch, Ref: "refs/heads/" + p.Branch, HeadSHA: p.HeadSha, BaseRef: MainBranch,
		MergeSHA: p.MergeSha, At: p.UpdatedAt,
	}
	switch a.State {
	case promotion.PullRequestMerged:
		a.MergedBy = p.EndedBy
	case promotion.PullRequestClosed:
		a.ClosedBy = p.EndedBy
	}
	return a
}
