package promotion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// SeenPullRequest is an open pull request as last judged.
type SeenPullRequest struct {
	Number   int
	Head     string
	Main     string
	PolicyID int64
	Ref      string // by which the head was fetched
	Verdict  string // in words
	SeenAt   time.Time
}

// current tells whether nothing has changed since that can change the verdict.
func (p SeenPullRequest) current(head, main string, policy int64) bool {
	return p.Head == head && p.Main == main && p.PolicyID == policy
}

// lookAtPullRequests judges every open pull request of a config repository, whoever opened it: a gated target that one changes
// gets a promotion of kind change, and one that changes none is let through at once.
func (s *Service) lookAtPullRequests(ctx context.Context, name string, site Site, main string) error {
	rules, err := s.rulesOf(ctx, s.Store, name)
	if isRefusal(err) {
		return nil // nothing is let through; the repository's page says why
	} else if err != nil {
		return err
	}
	open, err := site.Host.ListOpen(ctx)
	if err != nil {
		return fmt.Errorf("list the open pull requests: %w", err)
	}
	seen, err := s.Store.SeenPullRequests(ctx, name)
	if err != nil {
		return err
	}
	freezes, err := s.Store.Freezes(ctx, s.Now())
	if err != nil {
		return err
	}
	var failed error
	for _, pr := range open {
		if seen[pr.Number].current(pr.HeadSHA, main, rules.ID) {
			continue
		}
		j := &judging{Service: s, name: name, site: site, main: main, rules: rules, freezes: freezes, pr: pr}
		if err := j.run(ctx); err != nil { // one that cannot be judged does not keep the others waiting
			failed = errors.Join(failed, fmt.Errorf("judge pull request #%d: %w", pr.Number, err))
		}
	}
	return errors.Join(failed, s.forgetClosed(ctx, name, site, seen, open))
}

// forgetClosed lets go of what was kept of pull requests that are no longer open.
func (s *Service) forgetClosed(ctx context.Context, name string, site Site, seen map[int]SeenPullRequest, open []PullRequest) error {
	for number, p := range seen {
		if slices.ContainsFunc(open, func(o PullRequest) bool { return o.Number == number }) {
			continue
		}
		if err := site.Repository.ForgetRef(p.Ref); err != nil {
			return err
		}
		err := s.Store.Tx(ctx, func(tx Tx) error {
			ids, err := tx.OfPullRequest(ctx, name, number)
			if err != nil {
				return err
			}
			if err := advanceEach(ctx, tx, ids); err != nil {
				return err
			}
			return tx.ForgetPullRequest(ctx, name, number)
		})
		if err != nil {
			return fmt.Errorf("forget pull request #%d: %w", number, err)
		}
	}
	return nil
}

// fetchHead has the mirror know a pull request's head. It is false when the head has moved since the host told of it.
func fetchHead(ctx context.Context, repo ConfigRepository, pr PullRequest) (bool, error) {
	if _, err := repo.Commit(ctx, pr.HeadSHA); err == nil || !errors.Is(err, ErrNotFound) {
		return err == nil, err
	}
	head, err := repo.FetchRef(ctx, pr.Ref)
	return head == pr.HeadSHA, err
}
