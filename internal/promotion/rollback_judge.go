package promotion

import (
	"context"
	"fmt"

	"github.com/sluicehq/sluice/internal/rollback"
)

// judgeBacks gives the verdict on each way back, in the order given. It stores nothing.
func (s *Service) judgeBacks(ctx context.Context, t Target, backs []goingBack) ([]RollbackVerdict, error) {
	if len(backs) == 0 {
		return nil, nil
	}
	site, err := s.site(t)
	if err != nil {
		return nil, err
	}
	policy, err := s.PolicyFor(ctx, t)
	if err != nil {
		return nil, err
	}
	known, err := s.Store.Repository(ctx, t.Repository)
	if err != nil {
		return nil, fmt.Errorf("read config repository %s: %w", t.Repository, err)
	}
	if err := s.findConfigurations(ctx, t, backs); err != nil {
		return nil, err
	}
	facts, err := s.gather(ctx, site, t, known.Head, policy, backs)
	if err != nil {
		return nil, err
	}
	verdicts := make([]RollbackVerdict, len(backs))
	for i, b := range backs {
		verdicts[i] = RollbackVerdict{Target: t, Current: b.current, Candidate: b.candidate, Way: b.way, Commit: b.commit, Facts: facts[i].Facts,
			Verdict: rollback.Evaluate(facts[i].Facts), Notes: facts[i].Notes, Unread: facts[i].Unread, until: facts[i].until}
	}
	return verdicts, nil
}

// findConfigurations looks up the newest commit at which main had each candidate. One that is known already stays.
func (s *Service) findConfigurations(ctx context.Context, t Target, backs []goingBack) error {
	revisions, err := s.Store.RevisionsOf(ctx, t.ID, historyShown)
	if err != nil {
		return fmt.Errorf("read the history of %s: %w", t.Path, err)
	}
	for i := range backs {
		for _, v := range revisions {
			if backs[i].commit == "" && v.ReleaseID == backs[i].candidate.ID && v.ReleaseID != 0 {
				backs[i].commit = v.Commit.SHA
			}
		}
	}
	return nil
}

// keepVerdicts stores those whose facts differ from the last ones of their step, and notes of the others that they still hold.
func (s *Service) keepVerdicts(ctx context.Context, verdicts []RollbackVerdict) error {
	return s.Store.Tx(ctx, func(tx Tx) error {
		for i := range verdicts {
			if err := tx.KeepRollbackVerdict(ctx, &verdicts[i], s.Now()); err != nil {
				return fmt.Errorf("store the rollback verdict: %w", err)
			}
		}
		return nil
	})
}

// RollbackVerdict is a stored verdict, with its inputs.
func (s *Service) RollbackVerdict(ctx context.Context, id int64) (RollbackVerdict, error) {
	v, err := s.Store.RollbackVerdict(ctx, id)
	return v, unknown(err, "unknown-verdict", "there is no rollback verdict %d", id)
}
