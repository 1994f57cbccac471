// Package postgres stores the domain's facts in PostgreSQL. Queries are in
// queries/*.sql, from which sqlc generates package dbsqlc; the schema is in migrations.
package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

// Enqueue inserts work into the queue, within the transaction that decided it.
type Enqueue func(ctx context.Context, tx pgx.Tx, work []promotion.Work) error

// Store implements promotion.Store.
type Store struct {
	reader
	pool    *pgxpool.Pool
	enqueue Enqueue
}

var _ promotion.Store = (*Store)(nil)

// NewStore stores in the pool's database, whose schema must be up to date.
func NewStore(pool *pgxpool.Pool, enqueue Enqueue) *Store {
	return &Store{reader: reader{dbsqlc.New(pool)}, pool: pool, enqueue: enqueue}
}

// reader answers reads, in a transaction or outside of one.
type reader struct{ q *dbsqlc.Queries }

// attempts bounds how often a transaction is run again after PostgreSQL broke it off for another one's sake.
const attempts = 5

// Tx runs fn in one transaction. It is run again when PostgreSQL breaks it off
// because of a deadlock or a serialisation failure.
func (s *Store) Tx(ctx context.Context, fn func(promotion.Tx) error) error {
	var err error
	for range attempts {
		err = pgx.BeginFunc(ctx, s.pool, func(pgtx pgx.Tx) error {
			t := &tx{reader: reader{s.q.WithTx(pgtx)}, pgtx: pgtx}
			if err := fn(t); err != nil {
				return err
			}
			if len(t.work) == 0 {
				return nil
			}
			if err := s.enqueue(ctx, pgtx, t.work); err != nil {
				return fmt.Errorf("enqueue work: %w", err)
			}
			return nil
		})
		if !brokenOff(err) {
			return err
		}
	}
	return err
}

func brokenOff(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40P01" || pg.Code == "40001")
}

// Exclusively holds a session's advisory lock while fn runs. The lock goes with the
// connection, so a killed process holds nothing.
func (s *Store) Exclusively(ctx context.Context, key string, fn func(context.Context) error) (ran bool, err error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", key, err)
	}
	defer conn.Release()
	if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock(hashtextextended($1, 0))", key).Scan(&ran); err != nil {
		return false, fmt.Errorf("lock %s: %w", key, err)
	}
	if !ran {
		return false, nil
	}
	defer func() {
		// Even when ctx has ended the lock must not stay with a pooled connection.
		unlock := context.WithoutCancel(ctx)
		if _, unlockErr := conn.Exec(unlock, "SELECT pg_advisory_unlock(hashtextextended($1, 0))", key); unlockErr != nil {
			_ = conn.Conn().Close(unlock)
		}
	}()
	return true, fn(ctx)
}

// tx implements promotion.Tx.
type tx struct {
	reader
	pgtx pgx.Tx
	work []promotion.Work
}

var _ promotion.Tx = (*tx)(nil)

func (t *tx) Enqueue(_ context.Context, w promotion.Work) error {
	t.work = append(t.work, w)
	return nil
}

func (t *tx) EnqueueTarget(ctx context.Context, targetID int64) error {
	ids, err := t.q.UnfinishedOn(ctx, targetID)
	for _, id := range ids {
		t.work = append(t.work, promotion.Work{Kind: promotion.WorkAdvance, PromotionID: id})
	}
	return err
}

func (t *tx) LockApplication(ctx context.Context, id int64) error {
	_, err := t.q.LockApplication(ctx, id)
	return found(err)
}

// found turns the driver's answer for no row into the domain's.
func found(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return promotion.ErrNotFound
	}
	return err
}
