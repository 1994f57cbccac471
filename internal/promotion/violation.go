package promotion

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Violation is something that went past a gate. It is followed all the same, shown, and to be reviewed.
type Violation struct {
	ID          int64
	Target      Target
	PromotionID int64 // zero when it belongs to none
	Kind        ViolationKind
	Actor       string
	Message     string
	Subject     string // the commit, revision or field that went past: one violation each
	FoundAt     time.Time
	ClosedBy    string
	ClosedAt    time.Time
	Review      string
}

// ViolationKind says what was done past a gate.
type ViolationKind string

// The kinds of violations.
const (
	ViolationMerged ViolationKind = "merged" // a pull request, against a red gate
	ViolationPushed ViolationKind = "pushed" // to main directly, past every pull request
	ViolationSynced ViolationKind = "synced" // around Sluice
	ViolationEdited ViolationKind = "edited" // in the cluster, around Git
)

// violate records a violation once.
func (s *Service) violate(ctx context.Context, tx Tx, v Violation) error {
	v.FoundAt = s.Now()
	created, err := tx.InsertViolation(ctx, v)
	if err != nil {
		return fmt.Errorf("store the violation: %w", err)
	}
	if !created {
		return nil
	}
	e := s.event(ctx, Actor{Name: v.Actor, Kind: Person}, "violation."+string(v.Kind), v.Message)
	e.Object, e.Application, e.Environment, e.PromotionID = fmt.Sprintf("violation/%s", v.Subject), v.Target.Application, v.Target.Environment, v.PromotionID
	return errors.Join(tx.Audit(ctx, e), s.notify(ctx, tx, v.notification("", v.Message)))
}

// CloseViolation closes a violation's review. Whoever did it cannot.
func (s *Service) CloseViolation(ctx context.Context, by Actor, id int64, review string) error {
	if err := allow(by, "review violations", RoleApprover, RoleReleaseManager, RoleAdmin); err != nil {
		return err
	}
	if strings.TrimSpace(review) == "" {
		return invalid("missing-review", "review", "say what you found, and what follows from it")
	}
	return s.Store.Tx(ctx, func(tx Tx) error {
		v, err := tx.LockViolation(ctx, id)
		if err != nil {
			return unknown(err, "unknown-violation", "there is no violation %d", id)
		}
		switch {
		case v.Actor == by.Name:
			return conflict("own-violation", "you did this yourself: somebody else has to review it")
		case v.ClosedBy != "":
			return conflict("reviewed", "%s has reviewed it already", v.ClosedBy)
		}
		v.ClosedBy, v.ClosedAt, v.Review = by.Name, s.Now(), review
		if err := tx.SaveViolation(ctx, v); err != nil {
			return err
		}
		e := s.event(ctx, by, "violation.closed", fmt.Sprintf("violation %d reviewed: %s", id, review))
		e.Object, e.Application, e.Environment, e.PromotionID = fmt.Sprintf("violation/%d", id), v.Target.Application, v.Target.Environment, v.PromotionID
		return tx.Audit(ctx, e)
	})
}
