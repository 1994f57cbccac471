package postgres

import (
	"context"
	"time"

	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (r reader) Freezes(ctx context.Context, at time.Time) ([]promotion.Freeze, error) {
	rows, err := r.q.Freezes(ctx, at)
	all := make([]promotion.Freeze, len(rows))
	for i, z := range rows {
		all[i] = promotion.Freeze{ID: z.ID, Kind: promotion.FreezeKind(z.Kind), Reason: z.Reason, Owner: z.Owner, Applications: z.Applications,
			Environments: z.Environments, Clusters: z.Clusters, StartsAt: z.StartsAt, EndsAt: z.EndsAt, CreatedBy: z.CreatedBy, CreatedAt: z.CreatedAt}
	}
	return all, err
}

func (t *tx) InsertFreeze(ctx context.Context, z promotion.Freeze) (int64, error) {
	return t.q.InsertFreeze(ctx, dbsqlc.InsertFreezeParams{Kind: string(z.Kind), Reason: z.Reason, Owner: z.Owner, Applications: list(z.Applications),
		Environments: list(z.Environments), Clusters: list(z.Clusters), StartsAt: z.StartsAt, EndsAt: z.EndsAt, CreatedBy: z.CreatedBy, CreatedAt: z.CreatedAt})
}

func (t *tx) EndFreeze(ctx context.Context, id int64, by string, at time.Time) error {
	return t.q.EndFreeze(ctx, dbsqlc.EndFreezeParams{ID: id, EndedBy: by, At: at})
}

func (r reader) HoldsOf(ctx context.Context, targetID int64) ([]promotion.Hold, error) {
	rows, err := r.q.HoldsOf(ctx, targetID)
	all := make([]promotion.Hold, len(rows))
	for i, h := range rows {
		all[i] = promotion.Hold{ID: h.Hold.ID, Reason: h.Hold.Reason, HeldBy: h.Hold.HeldBy, HeldAt: h.Hold.HeldAt, Rollback: value(h.Hold.PromotionID),
			Target: promotion.Target{ID: value(h.Target), Application: value(h.Application), Environment: value(h.Environment), Path: value(h.Path)}}
	}
	return all, err
}

func (t *tx) InsertHold(ctx context.Context, h promotion.Hold) (bool, error) {
	n, err := t.q.InsertHold(ctx, dbsqlc.InsertHoldParams{TargetID: nullID(h.Target.ID), Reason: h.Reason, HeldBy: h.HeldBy, HeldAt: h.HeldAt,
		PromotionID: nullID(h.Rollback)})
	return n > 0, err
}

func (t *tx) ReleaseHold(ctx context.Context, targetID int64, by string, at time.Time) (bool, error) {
	n, err := t.q.ReleaseHold(ctx, dbsqlc.ReleaseHoldParams{Target: targetID, ReleasedBy: by, At: at})
	return n > 0, err
}
