package builtin

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/prhost/builtin/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

// repository is one repository of the host.
type repository struct {
	*Host
	bare
	name string
}

// push is who moved which refs, for a look that follows it.
type push struct {
	by      promotion.Actor
	oldMain string // empty when main did not move
}

// exclusively runs fn in one transaction, and nobody else's changes to pull
// requests of this repository beside it.
func (r *repository) exclusively(ctx context.Context, fn func(q *dbsqlc.Queries, repositoryID int64) error) error {
	return pgx.BeginFunc(ctx, r.Pool, func(tx pgx.Tx) error {
		q := r.queries.WithTx(tx)
		id, err := q.LockRepository(ctx, r.name)
		if err != nil {
			return found(err, "repository %s", r.name)
		}
		return fn(q, id)
	})
}

// current reads a pull request and brings it up to date with Git.
func (r *repository) current(ctx context.Context, read func(*dbsqlc.Queries) (dbsqlc.PrhostPullRequest, error)) (dbsqlc.PrhostPullRequest, error) {
	p, err := read(r.queries)
	if err != nil || p.State != string(promotion.PullRequestOpen) {
		return p, err
	}
	branches, err := r.branches(ctx)
	if err != nil || branches[p.Branch] == p.HeadSha && branches[MainBranch] == p.MainSha {
		return p, err
	}
	err = r.exclusively(ctx, func(q *dbsqlc.Queries, _ int64) (err error) {
		p, _, err = r.look(ctx, q, read)
		return err
	})
	return p, err
}

// look is current for a caller that holds the repository. It also returns the
// branches it saw.
func (r *repository) look(ctx context.Context, q *dbsqlc.Queries, read func(*dbsqlc.Queries) (dbsqlc.PrhostPullRequest, error)) (dbsqlc.PrhostPullRequest, map[string]string, error) {
	p, err := read(q)
	if err != nil {
		return p, nil, err
	}
	branches, err := r.branches(ctx)
	if err != nil {
		return p, nil, err
	}
	p, err = r.follow(ctx, q, p, branches, push{})
	return p, branches, err
}

// lookAfter brings every open pull request up to date after a push.
func (r *repository) lookAfter(ctx context.Context, pushed push) error {
	return r.exclusively(ctx, func(q *dbsqlc.Queries, _ int64) error {
		open, err := q.PullRequestsInState(ctx, dbsqlc.PullRequestsInStateParams{
			Repository: r.name, State: string(promotion.PullRequestOpen)})
		if err != nil {
			return err
		}
		branches, err := r.branches(ctx)
		if err != nil {
			return err
		}
		for _, p := range open {
			if _, err := r.follow(ctx, q, p, branches, pushed); err != nil {
				return fmt.Errorf("pull request #%d: %w", p.Number, err)
			}
		}
		return nil
	})
}

// follow makes an open pull request say what Git says. Main's gaining the head
// is a merge, whoever did it. A head that main held already is a branch set
// back: nothing was merged.
func (r *repository) follow(ctx context.Context, q *dbsqlc.Queries, p dbsqlc.PrhostPullRequest, branches map[string]string, pushed push) (dbsqlc.PrhostPullRequest, error) {
	main, head := branches[MainBranch], branches[p.Branch]
	if p.State != string(promotion.PullRequestOpen) || head == p.HeadSha && main == p.MainSha {
		return p, nil
	}
	gone := head == ""
	if gone {
		head = p.HeadSha
	}
	merged, err := r.gained(ctx, p.MainSha, main, head)
	switch {
	case err != nil:
		return p, fmt.Errorf("compare %s with %s: %w", p.Branch, MainBranch, err)
	case merged:
		return r.foundMerged(ctx, q, p, main, head, pushed)
	case gone:
		return r.end(ctx, q, p, ending{state: promotion.PullRequestClosed, head: head, by: pushed.by.Name, message: "the branch was deleted"})
	}
	return r.foundMoved(ctx, q, p, main, head, pushed)
}

func (r *repository) gained(ctx context.Context, old, new, head string) (bool, error) {
	holds, err := r.contains(ctx, new, head)
	if err != nil || !holds {
		return false, err
	}
	held, err := r.contains(ctx, old, head)
	return !held, err
}

func (r *repository) foundMerged(ctx context.Context, q *dbsqlc.Queries, p dbsqlc.PrhostPullRequest, main, head string, pushed push) (dbsqlc.PrhostPullRequest, error) {
	merge, err := r.mergeOf(ctx, p.MainSha, main, head)
	if err != nil {
		return p, fmt.Errorf("look for the merge of pull request #%d: %w", p.Number, err)
	}
	by, err := r.author(ctx, merge)
	if err != nil {
		return p, err
	}
	if pushed.oldMain != "" {
		held, err := r.contains(ctx, pushed.oldMain, head)
		if err != nil {
			return p, err
		}
		if !held {
			by = pushed.by.Name // who proved to be, before who a commit says
		}
	}
	return r.end(ctx, q, p, ending{state: promotion.PullRequestMerged, head: head, merge: merge, by: by,
		message: "main holds the head since " + merge})
}

func (r *repository) foundMoved(ctx context.Context, q *dbsqlc.Queries, p dbsqlc.PrhostPullRequest, main, head string, pushed push) (dbsqlc.PrhostPullRequest, error) {
	now := r.Clock()
	if err := q.SetSeen(ctx, dbsqlc.SetSeenParams{ID: p.ID, HeadSha: head, MainSha: main, At: now}); err != nil {
		return p, err
	}
	if head != p.HeadSha {
		err := q.AddEvent(ctx, dbsqlc.AddEventParams{PullRequestID: p.ID, Kind: "pushed", Actor: pushed.by.Name,
			Message: fmt.Sprintf("the branch moved from %s to %s", p.HeadSha, head), At: now})
		if err != nil {
			return p, err
		}
		p.UpdatedAt = now
	}
	p.HeadSha, p.MainSha = head, main
	return p, nil
}

// ending is how a pull request ends.
type ending struct {
	state       promotion.PullRequestState
	head, merge string
	by, message string
}

func (r *repository) end(ctx context.Context, q *dbsqlc.Queries, p dbsqlc.PrhostPullRequest, e ending) (dbsqlc.PrhostPullRequest, error) {
	now := r.Clock()
	p.State, p.HeadSha, p.MergeSha, p.EndedBy, p.EndedAt, p.UpdatedAt = string(e.state), e.head, e.merge, e.by, &now, now
	err := q.EndPullRequest(ctx, dbsqlc.EndPullRequestParams{ID: p.ID, State: p.State, HeadSha: p.HeadSha,
		MergeSha: p.MergeSha, EndedBy: p.EndedBy, At: p.EndedAt})
	if err != nil {
		return p, err
	}
	return p, q.AddEvent(ctx, dbsqlc.AddEventParams{PullRequestID: p.ID, Kind: p.State, Actor: e.by, Message: e.message, At: now})
}

// found makes a row that is not there ErrNotFound, in words.
func found(err error, format string, args ...any) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf(format+": %w", append(args, promotion.ErrNotFound)...)
	}
	return err
}
