package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (r reader) Watches(ctx context.Context, cluster string, since time.Time) ([]promotion.Watch, error) {
	rows, err := r.q.Watches(ctx, dbsqlc.WatchesParams{Cluster: cluster, Since: since})
	all := make([]promotion.Watch, len(rows))
	for i, w := range rows {
		all[i] = promotion.Watch{Cluster: w.Cluster, Server: w.Server, From: w.FromTime, To: w.ToTime}
	}
	return all, err
}

// WatchedUntil is up to when servers watched a cluster, besides one of them; zero when none ever did.
func (s *Store) WatchedUntil(ctx context.Context, cluster, besides string) (time.Time, error) {
	at, err := s.q.WatchedUntil(ctx, dbsqlc.WatchedUntilParams{Cluster: cluster, Besides: besides})
	if errors.Is(err, pgx.ErrNoRows) {
		return time.Time{}, nil
	}
	return at, err
}

// SaveWatch extends the server's watch that this one goes on from. Without one it is a watch of its own.
func (s *Store) SaveWatch(ctx context.Context, w promotion.Watch) error {
	n, err := s.q.ExtendWatch(ctx, dbsqlc.ExtendWatchParams{Cluster: w.Cluster, Server: w.Server, FromTime: w.From, ToTime: w.To})
	if err == nil && n == 0 {
		err = s.q.InsertWatch(ctx, dbsqlc.InsertWatchParams{Cluster: w.Cluster, Server: w.Server, FromTime: w.From, ToTime: w.To})
	}
	if err != nil {
		return fmt.Errorf("record that %s watches cluster %s: %w", w.Server, w.Cluster, err)
	}
	return nil
}
