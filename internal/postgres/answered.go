package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
)

// SaveAnswered notes that what is recorded of a cluster was still so at a moment. An earlier moment changes nothing.
func (s *Store) SaveAnswered(ctx context.Context, cluster string, at time.Time) error {
	return s.q.SaveAnswered(ctx, dbsqlc.SaveAnsweredParams{Cluster: cluster, AnsweredAt: at})
}

// AnsweredAt is the last moment that was noted of a cluster; zero when there is none.
func (s *Store) AnsweredAt(ctx context.Context, cluster string) (time.Time, error) {
	at, err := s.q.AnsweredAt(ctx, cluster)
	if errors.Is(err, pgx.ErrNoRows) {
		return time.Time{}, nil
	}
	return at, err
}
