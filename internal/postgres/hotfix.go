package postgres

import (
	"context"
	"time"

	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (r reader) Owed(ctx context.Context, targetID int64) ([]promotion.Owed, error) {
	rows, err := r.q.Owed(ctx, targetID)
	if err != nil {
		return nil, err
	}
	owed := make([]promotion.Owed, len(rows))
	for i, row := range rows {
		owed[i] = promotion.Owed{Target: target(row.TargetDetail), PromotionID: row.PromotionID, LiveIn: row.LiveIn, Since: row.Since}
		if owed[i].Release, err = r.Release(ctx, row.ReleaseID); err != nil {
			return nil, err
		}
	}
	return owed, nil
}

func (t *tx) InsertWaiver(ctx context.Context, o promotion.Owed, by, reason string, at time.Time) (bool, error) {
	n, err := t.q.InsertWaiver(ctx, dbsqlc.InsertWaiverParams{TargetID: o.Target.ID, ReleaseID: o.Release.ID, WaivedBy: by, WaivedAt: at, Reason: reason})
	return n > 0, err
}
