package promotion

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// RejectRelease says that a release may be promoted nowhere, and ends what carries it and is not merged.
func (s *Service) RejectRelease(ctx context.Context, by Actor, id int64, reason string) (Release, error) {
	if err := allow(by, "reject releases", RoleApprover, RoleReleaseManager, RoleAdmin); err != nil {
		return Release{}, err
	}
	if strings.TrimSpace(reason) == "" {
		return Release{}, invalid("missing-reason", "reason", "say why: nobody can promote it until somebody reopens it")
	}
	return s.judgeRelease(ctx, by, id, "release.rejected", func(r *Release) string {
		r.RejectedBy, r.RejectedAt, r.Rejection = by.Name, s.Now(), reason
		return "rejected everywhere: " + reason
	})
}

// ReopenRelease takes a rejection back.
func (s *Service) ReopenRelease(ctx context.Context, by Actor, id int64, reason string) (Release, error) {
	if err := allow(by, "reopen releases", RoleReleaseManager, RoleAdmin); err != nil {
		return Release{}, err
	}
	if strings.TrimSpace(reason) == "" {
		return Release{}, invalid("missing-reason", "reason", "say why it may be promoted after all")
	}
	return s.judgeRelease(ctx, by, id, "release.reopened", func(r *Release) string {
		r.RejectedBy, r.RejectedAt, r.Rejection = "", time.Time{}, ""
		return "reopened: " + reason
	})
}

func (s *Service) judgeRelease(ctx context.Context, by Actor, id int64, action string, change func(*Release) string) (r Release, err error) {
	err = s.Store.Tx(ctx, func(tx Tx) error {
		if r, err = tx.Release(ctx, id); err != nil {
			return unknown(err, "unknown-release", "there is no release %d", id)
		}
		if err := tx.LockApplication(ctx, r.ApplicationID); err != nil {
			return err
		}
		message := change(&r)
		if err := tx.SaveRejection(ctx, r); err != nil {
			return fmt.Errorf("store the rejection of release %d: %w", r.Number, err)
		}
		if err := tx.Audit(ctx, s.releaseEvent(ctx, by, r, action, fmt.Sprintf("release %d of %s %s", r.Number, r.Application, message))); err != nil {
			return err
		}
		if r.RejectedBy == "" {
			return nil
		}
		carrying, err := tx.Promotions(ctx, PromotionFilter{ReleaseID: r.ID, Unfinished: true, Limit: 1000})
		if err != nil {
			return err
		}
		for _, listed := range carrying {
			p, err := tx.LockPromotion(ctx, listed.ID)
			if err != nil || !p.Open() || p.Kind == KindChange {
				if err != nil {
					return err
				}
				continue
			}
			p.Decision, p.DecidedBy, p.DecidedAt, p.DecisionReason = Rejected, by.Name, s.Now(), r.Rejection
			if err := s.end(ctx, tx, by, p, "promotion.rejected", "rejected with its release: "+r.Rejection); err != nil {
				return err
			}
		}
		return nil
	})
	return r, err
}
