package postgres

import (
	"context"
	"time"

	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (r reader) SyncPauses(ctx context.Context, targetID int64) ([]promotion.SyncPause, error) {
	rows, err := r.q.SyncPauses(ctx, targetID)
	all := make([]promotion.SyncPause, len(rows))
	for i, row := range rows {
		p := row.SyncPause
		all[i] = promotion.SyncPause{ID: p.ID, Owner: p.Owner, Reason: p.Reason, PausedBy: p.PausedBy, PausedAt: p.PausedAt, ExpiresAt: p.ExpiresAt,
			Target: promotion.Target{ID: p.TargetID, Application: row.Application, Environment: row.Environment, Path: row.Path}}
	}
	return all, err
}

func (t *tx) InsertSyncPause(ctx context.Context, p promotion.SyncPause) (int64, error) {
	return t.q.InsertSyncPause(ctx, dbsqlc.InsertSyncPauseParams{TargetID: p.Target.ID, Owner: p.Owner, Reason: p.Reason, PausedBy: p.PausedBy,
		PausedAt: p.PausedAt, ExpiresAt: p.ExpiresAt})
}

func (t *tx) EndSyncPause(ctx context.Context, targetID int64, by string, at time.Time) (bool, error) {
	n, err := t.q.EndSyncPause(ctx, dbsqlc.EndSyncPauseParams{Target: targetID, EndedBy: by, At: at})
	return n > 0, err
}
