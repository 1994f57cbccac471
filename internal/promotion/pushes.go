package promotion

import (
	"context"
	"fmt"
	"time"
)

// claimTime is how long a commit on main has to turn out to be the merge of a pull request: of a squash or a rebase only
// the host knows.
const claimTime = 15 * time.Second

// findPushes records what was pushed to main directly and changed a gated target.
func (s *Service) findPushes(ctx context.Context, name string) error {
	rules, err := s.rulesOf(ctx, s.Store, name)
	if isRefusal(err) {
		return nil
	} else if err != nil {
		return err
	}
	targets, err := s.Store.Targets(ctx)
	if err != nil {
		return err
	}
	freezes, err := s.Store.Freezes(ctx, s.Now())
	if err != nil {
		return fmt.Errorf("read freezes: %w", err)
	}
	byID := map[int64]Target{}
	for _, t := range targets {
		byID[t.ID] = t
	}
	return s.Store.Tx(ctx, func(tx Tx) error {
		revisions, err := tx.Unexamined(ctx, name, s.Now().Add(-claimTime))
		if err != nil {
			return fmt.Errorf("list the commits that no promotion made: %w", err)
		}
		for _, v := range revisions {
			t, present := byID[v.TargetID]
			if present && gated(rules.rules, freezes, t, s.Now()) {
				err := s.violate(ctx, tx, Violation{Target: t, Kind: ViolationPushed, Actor: v.Commit.Author, Subject: v.Commit.SHA,
					Message: fmt.Sprintf("commit %s by %s changed %s past every pull request", short(v.Commit.SHA), v.Commit.Author, t.Path)})
				if err != nil {
					return err
				}
			}
			if err := tx.Examined(ctx, v.ID); err != nil {
				return err
			}
		}
		return nil
	})
}
