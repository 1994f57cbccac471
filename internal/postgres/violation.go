package postgres

import (
	"context"
	"time"

	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

func override(o dbsqlc.Override, t dbsqlc.TargetDetail) promotion.Override {
	return promotion.Override{ID: o.ID, Target: target(t), Gates: o.Gates, Reason: o.Reason, Incident: o.Incident, GivenBy: o.GivenBy, GivenByKind: promotion.ActorKind(o.GivenByKind),
		GivenAt: o.GivenAt, ExpiresAt: o.ExpiresAt, ReviewedBy: o.ReviewedBy, ReviewedAt: value(o.ReviewedAt), Review: o.Review}
}

func (r reader) OverridesOf(ctx context.Context, targetID int64, at time.Time) ([]promotion.Override, error) {
	rows, err := r.q.OverridesOf(ctx, dbsqlc.OverridesOfParams{Target: targetID, At: at})
	all := make([]promotion.Override, len(rows))
	for i, row := range rows {
		all[i] = override(row.Override, row.TargetDetail)
	}
	return all, err
}

func (r reader) Overrides(ctx context.Context, at time.Time) ([]promotion.Override, error) {
	rows, err := r.q.Overrides(ctx, at)
	all := make([]promotion.Override, len(rows))
	for i, row := range rows {
		all[i] = override(row.Override, row.TargetDetail)
		all[i].DueAt = row.DueAt
	}
	return all, err
}

func (t *tx) InsertOverride(ctx context.Context, o promotion.Override) (int64, error) {
	return t.q.InsertOverride(ctx, dbsqlc.InsertOverrideParams{TargetID: o.Target.ID, Gates: o.Gates, Reason: o.Reason, Incident: o.Incident,
		GivenBy: o.GivenBy, GivenByKind: string(o.GivenByKind), GivenAt: o.GivenAt, ExpiresAt: o.ExpiresAt})
}

func (t *tx) LockOverride(ctx context.Context, id int64) (promotion.Override, error) {
	row, err := t.q.OverrideByID(ctx, id)
	return override(row.Override, row.TargetDetail), found(err)
}

func (t *tx) SaveOverride(ctx context.Context, o promotion.Override) error {
	return t.q.SaveOverride(ctx, dbsqlc.SaveOverrideParams{ID: o.ID, ReviewedBy: o.ReviewedBy, ReviewedAt: nullTime(o.ReviewedAt), Review: o.Review})
}

func violation(v dbsqlc.Violation, t dbsqlc.TargetDetail) promotion.Violation {
	return promotion.Violation{ID: v.ID, Target: target(t), PromotionID: value(v.PromotionID), Kind: promotion.ViolationKind(v.Kind), Actor: v.Actor,
		Message: v.Message, Subject: v.Subject, FoundAt: v.FoundAt, ClosedBy: v.ClosedBy, ClosedAt: value(v.ClosedAt), Review: v.Review}
}

func (r reader) Violations(ctx context.Context, open bool, limit int) ([]promotion.Violation, error) {
	rows, err := r.q.Violations(ctx, dbsqlc.ViolationsParams{Open: open, Most: int32(limit)})
	all := make([]promotion.Violation, len(rows))
	for i, row := range rows {
		all[i] = violation(row.Violation, row.TargetDetail)
	}
	return all, err
}

func (t *tx) InsertViolation(ctx context.Context, v promotion.Violation) (bool, error) {
	n, err := t.q.InsertViolation(ctx, dbsqlc.InsertViolationParams{TargetID: v.Target.ID, PromotionID: nullID(v.PromotionID), Kind: string(v.Kind),
		Actor: v.Actor, Message: v.Message, Subject: v.Subject, FoundAt: v.FoundAt})
	return n > 0, err
}

func (t *tx) LockViolation(ctx context.Context, id int64) (promotion.Violation, error) {
	row, err := t.q.ViolationByID(ctx, id)
	return violation(row.Violation, row.TargetDetail), found(err)
}

func (t *tx) SaveViolation(ctx context.Context, v promotion.Violation) error {
	return t.q.SaveViolation(ctx, dbsqlc.SaveViolationParams{ID: v.ID, ClosedBy: v.ClosedBy, ClosedAt: nullTime(v.ClosedAt), Review: v.Review})
}

func (t *tx) Unexamined(ctx context.Context, repository string, before time.Time) ([]promotion.TargetRevision, error) {
	rows, err := t.q.Unexamined(ctx, dbsqlc.UnexaminedParams{Repository: repository, Before: before})
	if err != nil {
		return nil, err
	}
	return revisions(rows)
}

func (t *tx) Examined(ctx context.Context, id int64) error { return t.q.Examined(ctx, id) }
