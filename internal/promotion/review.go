package promotion

import (
	"context"
	"fmt"
	"slices"
)

// reviewed is what the host's reviews come to: approvals that are not stored yet, and people who ask for changes.
func (s *Service) reviewed(f *situation) (fresh []Approval, objections []string) {
	for _, r := range f.reviews {
		by, known := s.Identify(f.Target.Repository, r.Author)
		if !known || by.Name == f.RequestedBy || !by.Has(f.policy.ApproverRoles...) {
			continue
		}
		switch {
		case r.Verdict == ReviewAsksForChange:
			objections = append(objections, by.Name)
		case r.Head != f.HeadSHA || f.RenderedHash == "":
			continue // of another content; a stored approval of equal content counts anyway
		case !slices.ContainsFunc(f.approvals, func(a Approval) bool {
			return a.Actor == by.Name && a.Kind != Token && a.RenderedHash == f.RenderedHash && a.Decision == "approve"
		}):
			fresh = append(fresh, Approval{PromotionID: f.ID, Actor: by.Name, Kind: Person, Roles: by.Roles, Decision: "approve", Comment: "reviewed at the host. " + r.Comment,
				RenderedHash: f.RenderedHash, DecidedAt: r.At})
		}
	}
	return fresh, objections
}

func (s *Service) mustTakeReviews(f *situation) bool {
	if !f.Open() || len(f.reviews) == 0 {
		return false
	}
	fresh, _ := s.reviewed(f)
	return len(fresh) > 0
}

// takeReviews stores what people approved at the host, bound to the content that they saw.
func (s *Service) takeReviews(_ context.Context, f *situation) (record, error) {
	fresh, _ := s.reviewed(f)
	a := fresh[0]
	return record{by: Actor{Name: a.Actor, Kind: Person, Roles: a.Roles}, action: "promotion.approved",
		message: fmt.Sprintf("approved by a review of pull request #%d", f.Number), apply: func(*Promotion) {},
		then: func(ctx context.Context, tx Tx, _ Promotion) error { return tx.InsertApproval(ctx, a) }}, nil
}
