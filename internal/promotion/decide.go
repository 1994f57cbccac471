package promotion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// decide runs one person's decision on a locked promotion.
func (s *Service) decide(ctx context.Context, id int64, fn func(Tx, Promotion) error) (Promotion, error) {
	err := s.Store.Tx(ctx, func(tx Tx) error {
		p, err := tx.LockPromotion(ctx, id)
		if errors.Is(err, ErrNotFound) {
			return absent("unknown-promotion", "there is no promotion %d", id)
		} else if err != nil {
			return err
		}
		return fn(tx, p)
	})
	if err != nil {
		return Promotion{}, err
	}
	return s.Store.Promotion(ctx, id)
}

// DecideRequest approves or rejects. Rendered, when given, is the content the
// person saw: if it is not what would be merged now, nothing is decided.
type DecideRequest struct {
	PromotionID int64
	Decision    string
	Comment     string
	Rendered    string
}

// Decide stores a person's approval, or rejects the promotion.
func (s *Service) Decide(ctx context.Context, by Actor, r DecideRequest) (Promotion, error) {
	if err := allow(by, "approve or reject", RoleApprover, RoleReleaseManager, RoleAdmin); err != nil {
		return Promotion{}, err
	}
	if r.Decision != "approve" && r.Decision != "reject" {
		return Promotion{}, invalid("malformed-decision", "decision", "decision %q: say approve or reject", r.Decision)
	}
	if r.Decision == "reject" && r.Comment == "" {
		return Promotion{}, invalid("missing-comment", "comment", "say why you reject: whoever asked for the promotion reads it")
	}
	return s.decide(ctx, r.PromotionID, func(tx Tx, p Promotion) error {
		policy, err := s.rulesOf(ctx, tx, p.Target.Repository)
		if err != nil {
			return err
		}
		switch {
		case !p.Open() && !(r.Decision == "approve" && awaitsSync(p, policy.rules.For(p.Target))):
			return conflict("not-open", "promotion %d is %s: there is nothing left to decide", p.ID, p.State())
		case p.RenderedHash == "":
			return conflict("nothing-to-approve", "promotion %d has no pull request yet: an approval is for the content it shows", p.ID)
		case r.Rendered != "" && r.Rendered != p.RenderedHash:
			return conflict("content-changed", "promotion %d would now deploy something else than what you saw: read it again", p.ID)
		}
		a := Approval{PromotionID: p.ID, Actor: by.Name, Kind: by.Kind, Roles: by.Roles, Decision: r.Decision, Comment: r.Comment,
			RenderedHash: p.RenderedHash, DecidedAt: s.Now()}
		if err := tx.InsertApproval(ctx, a); err != nil {
			return fmt.Errorf("store the decision on promotion %d: %w", p.ID, err)
		}
		if r.Decision == "reject" {
			p.Decision, p.DecidedBy, p.DecidedAt, p.DecisionReason = Rejected, by.Name, s.Now(), r.Comment
			return s.end(ctx, tx, by, p, "promotion.rejected", "rejected: "+r.Comment)
		}
		return s.store(ctx, tx, by, p, "promotion.approved", "approved "+r.Comment)
	})
}

// awaitsSync tells whether a merge that went past the approvals may still be approved: Sluice
// has not synced it, and does so only when it is.
func awaitsSync(p Promotion, policy EnvironmentPolicy) bool {
	return p.PullRequest == PullRequestMerged && policy.SyncBySluice && p.SyncStartedAt.IsZero() && p.SyncedAt.IsZero()
}

// Cancel withdraws a promotion that is not merged.
func (s *Service) Cancel(ctx context.Context, by Actor, id int64, reason string) (Promotion, error) {
	if err := allow(by, "cancel promotions", RoleReleaseManager, RoleAdmin); err != nil {
		return Promotion{}, err
	}
	return s.decide(ctx, id, func(tx Tx, p Promotion) error {
		if p.Decision == Cancelled {
			return nil
		}
		if !p.Open() {
			return conflict("not-open", "promotion %d is %s: it cannot be cancelled any more", p.ID, p.State())
		}
		if !p.Ours() {
			return conflict("not-sluices-own", "pull request #%d is %s's own: close it at the host, or reject it here", p.Number, p.RequestedBy)
		}
		p.Decision, p.DecidedBy, p.DecidedAt, p.DecisionReason = Cancelled, by.Name, s.Now(), reason
		return s.end(ctx, tx, by, p, "promotion.cancelled", "cancelled by "+by.Name)
	})
}

// Merge asks Sluice to merge. Every gate is evaluated again now; one that holds
// refuses, with all results. A promotion merged already is no error.
func (s *Service) Merge(ctx context.Context, by Actor, id int64) (Promotion, error) {
	if err := allow(by, "merge promotions", mergers()...); err != nil {
		return Promotion{}, err
	}
	f, err := s.lookFor(ctx, id)
	if err != nil {
		return Promotion{}, err
	}
	switch {
	case f.PullRequest == PullRequestMerged:
		return *f.Promotion, nil
	case !f.Open():
		return Promotion{}, conflict("not-open", "promotion %d is %s: it cannot be merged", id, f.State())
	}
	if f.gates, err = s.refresh(ctx, f); err != nil {
		return Promotion{}, err
	}
	if err := s.judgeSiblings(ctx, f); err != nil {
		return Promotion{}, err
	}
	if held := f.held(); len(held) > 0 {
		return Promotion{}, refused("merge-refused", f, held)
	}
	return s.decide(ctx, id, func(tx Tx, p Promotion) error {
		if !p.Open() || p.HeadSHA != f.HeadSHA {
			return conflict("content-changed", "promotion %d changed while it was looked at: read it again", p.ID)
		}
		p.MergeAskedBy, p.MergeAskedAt = by.Name, s.Now()
		return s.store(ctx, tx, by, p, "promotion.merge-asked", by.Name+" asks to merge")
	})
}

// Sync asks Sluice to start the sync of a merged promotion.
func (s *Service) Sync(ctx context.Context, by Actor, id int64) (Promotion, error) {
	if err := allow(by, "start a sync", RoleReleaseManager, RoleApprover, RoleAdmin); err != nil {
		return Promotion{}, err
	}
	f, err := s.lookFor(ctx, id)
	if err != nil {
		return Promotion{}, err
	}
	switch {
	case !f.SyncedAt.IsZero():
		return *f.Promotion, nil
	case f.PullRequest != PullRequestMerged:
		return Promotion{}, &Error{Kind: Refused, Code: "sync-refused", Gates: f.gates,
			Message: fmt.Sprintf("promotion %d is not merged: there is nothing to sync yet", id)}
	case !f.policy.SyncBySluice:
		return Promotion{}, conflict("synced-by-engine", "%s is synced by Argo CD itself, not by Sluice", f.Target.Environment)
	}
	if f.gates, err = s.refresh(ctx, f); err != nil {
		return Promotion{}, err
	}
	// Who waits in the line may be asked for: it goes when it is its turn.
	held := slices.DeleteFunc(holding(f.gates, PhaseSync), func(g GateResult) bool { return g.Gate == GateConcurrency })
	if len(held) > 0 {
		return Promotion{}, refused("sync-refused", f, held)
	}
	return s.decide(ctx, id, func(tx Tx, p Promotion) error {
		p.SyncAskedBy, p.SyncAskedAt = by.Name, s.Now()
		return s.store(ctx, tx, by, p, "promotion.sync-asked", by.Name+" asks to sync")
	})
}

// Retry looks again at once; a sync that failed may be started again.
func (s *Service) Retry(ctx context.Context, by Actor, id int64) (Promotion, error) {
	if err := allow(by, "retry", RoleReleaseManager, RoleAdmin); err != nil {
		return Promotion{}, err
	}
	return s.decide(ctx, id, func(tx Tx, p Promotion) error {
		if p.State().Finished() {
			return conflict("finished", "promotion %d is %s: there is nothing to retry", p.ID, p.State())
		}
		if p.Failure != "" && p.SyncedAt.IsZero() {
			p.SyncStartedAt, p.Failure = time.Time{}, ""
		}
		return s.store(ctx, tx, by, p, "promotion.retried", by.Name+" asks to try again")
	})
}

func (s *Service) lookFor(ctx context.Context, id int64) (*situation, error) {
	f, err := s.look(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return nil, absent("unknown-promotion", "there is no promotion %d", id)
	}
	if err != nil {
		return nil, err
	}
	f.gates, err = s.Store.Gates(ctx, id)
	return f, err
}

func refused(code string, f *situation, held []GateResult) error {
	return &Error{Kind: Refused, Code: code, Gates: f.gates,
		Message: fmt.Sprintf("promotion %d is held by %s: %s", f.ID, held[0].Gate, held[0].Reason)}
}
