package builtin

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/prhost/builtin/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

// attempts is how often a merge starts again because main moved meanwhile.
const attempts = 5

// Merge implements promotion.PullRequestHost. It does not ask for by's roles:
// who calls it has decided that by may merge. Main moves before the row is
// written; a crash between the two is repaired by the next look, which finds the head in main: so it makes a merge commit,
// whatever the method.
func (r *repository) Merge(ctx context.Context, number int, expectedHead, message string, by promotion.Actor, _ promotion.MergeMethod) (string, error) {
	var merge string
	var moved []RefChange
	err := r.exclusively(ctx, func(q *dbsqlc.Queries, _ int64) error {
		p, branches, err := r.look(ctx, q, r.numbered(ctx, number))
		if err != nil {
			return err
		}
		if err := r.mergeable(ctx, q, p, expectedHead); err != nil {
			return err
		}
		if p.State == string(promotion.PullRequestMerged) {
			merge = p.MergeSha
			return nil
		}
		if p, merge, err = r.merge(ctx, p, branches[MainBranch], message, by); err != nil {
			return err
		}
		moved = []RefChange{{Ref: "refs/heads/" + MainBranch, Old: p.MainSha, New: merge}}
		if err := q.SetSeen(ctx, dbsqlc.SetSeenParams{ID: p.ID, HeadSha: p.HeadSha, MainSha: p.MainSha, At: r.Clock()}); err != nil {
			return err
		}
		_, err = r.end(ctx, q, p, ending{state: promotion.PullRequestMerged, head: p.HeadSha, merge: merge, by: by.Name, message: "merged as " + merge})
		return err
	})
	if moved != nil {
		r.Pushed(context.WithoutCancel(ctx), r.name, moved)
	}
	if err != nil {
		return "", fmt.Errorf("merge pull request #%d: %w", number, err)
	}
	return merge, nil
}

// mergeable refuses what must not be merged. Merged already is no refusal.
func (r *repository) mergeable(ctx context.Context, q *dbsqlc.Queries, p dbsqlc.PrhostPullRequest, expectedHead string) error {
	if p.HeadSha != expectedHead {
		return fmt.Errorf("it is at %s, not at %s: %w", p.HeadSha, expectedHead, promotion.ErrHeadMoved)
	}
	switch promotion.PullRequestState(p.State) {
	case promotion.PullRequestMerged:
		return nil
	case promotion.PullRequestClosed:
		return fmt.Errorf("it is closed: %w", promotion.ErrNotMergeable)
	}
	if r.RequiredStatus == "" {
		return nil
	}
	status, err := q.Status(ctx, dbsqlc.StatusParams{RepositoryID: p.RepositoryID, Sha: p.HeadSha, Context: r.RequiredStatus})
	if errors.Is(err, pgx.ErrNoRows) {
		status.State = "not set"
	} else if err != nil {
		return err
	}
	if status.State != "success" {
		return fmt.Errorf("the required status %s is %s on %s: %w", r.RequiredStatus, status.State, p.HeadSha, promotion.ErrNotMergeable)
	}
	return nil
}

// merge writes the merge commit and moves main to it. The returned row's
// MainSha is the main that was merged into.
func (r *repository) merge(ctx context.Context, p dbsqlc.PrhostPullRequest, main, message string, by promotion.Actor) (dbsqlc.PrhostPullRequest, string, error) {
	var err error
	for range attempts {
		var merge string
		if merge, err = r.mergeCommit(ctx, main, p.HeadSha, message, by); err != nil {
			return p, "", err
		}
		if err = r.moveMain(ctx, main, merge, p.Branch, p.HeadSha); err == nil {
			p.MainSha = main
			return p, merge, nil
		}
		branches, lookErr := r.branches(ctx)
		if lookErr != nil {
			return p, "", lookErr
		}
		if branches[p.Branch] != p.HeadSha {
			return p, "", fmt.Errorf("branch %s was pushed to meanwhile: %w", p.Branch, promotion.ErrHeadMoved)
		}
		main = branches[MainBranch]
	}
	return p, "", fmt.Errorf("%s could not be moved in %d attempts: %w (%w)", MainBranch, attempts, promotion.ErrNotMergeable, err)
}

func (r *repository) mergeCommit(ctx context.Context, main, head, message string, by promotion.Actor) (string, error) {
	held, err := r.contains(ctx, main, head)
	if err != nil {
		return "", err
	}
	if held {
		return "", fmt.Errorf("it has no commit that %s has not: %w", MainBranch, promotion.ErrNotMergeable)
	}
	tree, err := r.mergeTrees(ctx, main, head)
	if err != nil {
		return "", err
	}
	now := r.Clock()
	author := promotion.Signature{Name: by.Name, Email: r.email(by.Name), When: now}
	committer := promotion.Signature{Name: "Sluice", Email: r.email("sluice"), When: now}
	return r.commit(ctx, tree, message, []string{main, head}, author, committer)
}

// email is a name's address below the host's own name: nobody's mailbox,
// unless the name is an address already.
func (h *Host) email(name string) string {
	if strings.Contains(name, "@") {
		return name
	}
	host := "localhost"
	if u, err := url.Parse(h.BaseURL); err == nil && u.Hostname() != "" {
		host = u.Hostname()
	}
	return strings.ReplaceAll(name, " ", ".") + "@" + host
}
