package promotion

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicehq/sluice/internal/rollback"
)

// Acceptance is one person's word that a named unknown of the gate rollback-safe may stand for a while.
type Acceptance struct {
	ID          int64
	PromotionID int64
	Unknown     string // the reason in full
	RequestedBy string // who asked for the promotion
	AcceptedBy  string
	Reason      string
	AcceptedAt  time.Time
	ExpiresAt   time.Time
}

// AcceptRequest asks to let one unknown stand.
type AcceptRequest struct {
	Promotion int64
	Unknown   string
	Reason    string
	ExpiresAt time.Time
}

// longestAcceptance bounds how long an unknown may stand without anybody looking again.
const longestAcceptance = 30 * 24 * time.Hour

// AcceptUnknown lets one unknown of a promotion's rollback verdict stand. What is known to be wrong cannot be accepted.
func (s *Service) AcceptUnknown(ctx context.Context, by Actor, r AcceptRequest) (Promotion, error) {
	if err := allow(by, "accept an unknown", RoleApprover, RoleReleaseManager, RoleAdmin); err != nil {
		return Promotion{}, err
	}
	now := s.Now()
	switch {
	case strings.TrimSpace(r.Reason) == "":
		return Promotion{}, invalid("missing-reason", "reason", "say why it may stand: approvers read it, and so does whoever asks later")
	case !r.ExpiresAt.After(now):
		return Promotion{}, invalid("bad-expiry", "expires_at", "say until when it may stand: a moment to come")
	case r.ExpiresAt.After(now.Add(longestAcceptance)):
		return Promotion{}, invalid("bad-expiry", "expires_at", "it may stand for %d days at most", int(longestAcceptance.Hours()/24))
	}
	var p Promotion
	err := s.Store.Tx(ctx, func(tx Tx) error {
		var err error
		if p, err = tx.LockPromotion(ctx, r.Promotion); err != nil {
			return unknown(err, "unknown-promotion", "there is no promotion %d", r.Promotion)
		}
		return s.accept(ctx, tx, by, p, r)
	})
	return p, err
}

func (s *Service) accept(ctx context.Context, tx Tx, by Actor, p Promotion, r AcceptRequest) error {
	switch {
	case !p.Open():
		return conflict("not-open", "promotion %d is over: there is nothing to accept any more", p.ID)
	case by.Name == p.RequestedBy:
		return &Error{Kind: Forbidden, Code: "own-promotion", Message: "you asked for this promotion: somebody else has to accept what is not known of it"}
	}
	gates, err := tx.Gates(ctx, p.ID)
	if err != nil {
		return err
	}
	unknowns := UnknownsOf(gates)
	if !slices.Contains(unknowns, r.Unknown) {
		return invalid("no-such-unknown", "unknown", "%q is not an unknown of this promotion's way back. They are: %s", r.Unknown, strings.Join(unknowns, ", "))
	}
	a := Acceptance{PromotionID: p.ID, Unknown: r.Unknown, RequestedBy: p.RequestedBy, AcceptedBy: by.Name, Reason: strings.TrimSpace(r.Reason),
		AcceptedAt: s.Now(), ExpiresAt: r.ExpiresAt}
	if a.ID, err = tx.InsertAcceptance(ctx, a); err != nil {
		return err
	}
	e := s.promotionEvent(ctx, by, p, "promotion.unknown-accepted", fmt.Sprintf("%s: %s", r.Unknown, a.Reason))
	e.After = a
	if err := tx.Audit(ctx, e); err != nil {
		return err
	}
	return tx.Enqueue(ctx, Work{Kind: WorkAdvance, PromotionID: p.ID})
}

// UnknownsOf are the unknowns that the gate rollback-safe found last, whether accepted or not.
func UnknownsOf(gates []GateResult) []string {
	var unknowns []string
	for _, g := range gates {
		if g.Gate != GateRollbackSafe {
			continue
		}
		listed, _ := g.Inputs["unknowns"].([]any)
		for _, u := range listed {
			if text, ok := u.(string); ok {
				unknowns = append(unknowns, text)
			}
		}
	}
	return distinct(unknowns)
}

// InForce tells whether it still counts.
func (a Acceptance) InForce(now time.Time) bool { return a.ExpiresAt.After(now) }

// weighed is an acceptance as the verdict weighs it.
func (a Acceptance) weighed() rollback.Acceptance {
	return rollback.Acceptance{Unknown: a.Unknown, RequestedBy: a.RequestedBy, AcceptedBy: a.AcceptedBy, Reason: a.Reason}
}
