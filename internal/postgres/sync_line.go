package postgres

import (
	"context"
	"time"

	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (r reader) SyncLine(ctx context.Context) ([]promotion.Lined, error) {
	rows, err := r.q.SyncLine(ctx)
	all := make([]promotion.Lined, len(rows))
	for i, l := range rows {
		all[i] = promotion.Lined{PromotionID: l.SyncLine.PromotionID, Application: l.Application, Environment: l.Environment, Clusters: l.Clusters,
			Priority: promotion.Priority(l.SyncLine.Priority), Most: int(l.SyncLine.Most), MergedAt: value(l.MergedAt),
			JoinedAt: l.SyncLine.JoinedAt, StartedAt: value(l.SyncLine.StartedAt), Begun: l.Begun}
	}
	return all, err
}

func (r reader) MergedUnjudged(ctx context.Context, since time.Time) ([]promotion.JustMerged, error) {
	rows, err := r.q.MergedUnjudged(ctx, since)
	if err != nil {
		return nil, err
	}
	all := make([]promotion.JustMerged, len(rows))
	for i, row := range rows {
		p, err := promotionOf(row.Promotion, row.TargetDetail)
		if err != nil {
			return nil, err
		}
		all[i] = promotion.JustMerged{Promotion: p, Clusters: row.Clusters, At: value(row.MergedAt)}
	}
	return all, nil
}

func (t *tx) LockSyncLine(ctx context.Context) error { return t.q.LockSyncLine(ctx) }

func (t *tx) JoinSyncLine(ctx context.Context, l promotion.Lined, at time.Time) error {
	return t.q.JoinSyncLine(ctx, dbsqlc.JoinSyncLineParams{PromotionID: l.PromotionID, Priority: int16(l.Priority), Most: int32(l.Most), JoinedAt: at})
}

func (t *tx) TakeSyncPlace(ctx context.Context, promotionID int64, at time.Time) error {
	return t.q.TakeSyncPlace(ctx, dbsqlc.TakeSyncPlaceParams{PromotionID: promotionID, At: at})
}

func (t *tx) LeaveSyncLine(ctx context.Context, promotionID int64, at time.Time) error {
	return t.q.LeaveSyncLine(ctx, dbsqlc.LeaveSyncLineParams{PromotionID: promotionID, At: at})
}
