package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sluicehq/sluice/internal/audit"
	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
)

// sealBatch is how many events are read and sealed in one transaction.
const sealBatch = 1000

// SealAudit seals the audit events that no unfinished transaction can come before, and
// returns how many and the chain's newest head. Whoever writes events never waits for it.
// One server at a time seals: while another does, nothing happens here. A call without
// anything to seal is a few index look-ups.
func (s *Store) SealAudit(ctx context.Context) (sealed int, head audit.Head, err error) {
	for n := sealBatch; n == sealBatch; sealed += n {
		if n, err = s.sealSome(ctx); err != nil {
			return sealed, audit.Head{}, fmt.Errorf("seal the audit: %w", err)
		}
	}
	head, err = s.AuditHead(ctx)
	return sealed, head, err
}

// AuditHead is the chain's newest head: noted elsewhere, it proves later that the chain
// up to there is still the same.
func (s *Store) AuditHead(ctx context.Context) (audit.Head, error) { return s.head(ctx) }

func (r reader) head(ctx context.Context) (audit.Head, error) {
	row, err := r.q.NewestSeal(ctx)
	if errors.Is(err, pgx.ErrNoRows) {
		return audit.Genesis(), nil
	} else if err != nil {
		return audit.Head{}, fmt.Errorf("read the audit's head: %w", err)
	}
	return audit.Head{Position: row.Position, Hash: hashOf(row.Hash)}, nil
}

// sealSome seals up to a batch. Only who holds the lock reads what is sealed so far.
func (s *Store) sealSome(ctx context.Context) (sealed int, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(pgtx pgx.Tx) error {
		r := reader{s.q.WithTx(pgtx)}
		if mine, err := r.q.LockSealing(ctx); err != nil || !mine {
			return err
		}
		rows, err := r.toSeal(ctx)
		if err != nil || len(rows) == 0 {
			return err
		}
		sealed = len(rows)
		return r.seal(ctx, rows)
	})
	if err != nil {
		return 0, err
	}
	return sealed, nil
}

// toSeal is the next events, in the order of sealing.
func (r reader) toSeal(ctx context.Context) ([]dbsqlc.EventsToSealRow, error) {
	newest, err := r.q.NewestSealedEvent(ctx)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, err
	}
	horizon, err := r.q.AuditHorizon(ctx)
	if err != nil {
		return nil, err
	}
	after := dbsqlc.EventsToSealParams{Tx: xid(newest.Tx.Uint64), ID: newest.ID, Most: sealBatch}
	if newest.Tx.Uint64 >= horizon.Uint64 {
		// The rows came from another server's dump, and transactions count from a lower
		// number now: the order begins anew.
		after.Tx, after.ID = xid(0), 0
	}
	return r.q.EventsToSeal(ctx, after)
}

func (r reader) seal(ctx context.Context, rows []dbsqlc.EventsToSealRow) error {
	horizon, err := r.q.SealingTransaction(ctx)
	if err != nil {
		return err
	}
	batch := audit.Batch{Horizon: horizon.Uint64, At: rows[0].SealedAt}
	seals := dbsqlc.InsertSealsParams{Horizon: xid(batch.Horizon), SealedAt: batch.At}
	for _, row := range rows {
		seals.Events = append(seals.Events, row.ID)
	}
	events, err := r.events(ctx, seals.Events)
	if err != nil {
		return err
	}
	head, err := r.head(ctx)
	if err != nil {
		return err
	}
	for _, id := range seals.Events {
		if events[id] == nil {
			return fmt.Errorf("audit event %d disappeared while it was being sealed", id)
		}
		seal := head.Next(*events[id], batch)
		seals.Positions, seals.Hashes = append(seals.Positions, seal.Position), append(seals.Hashes, seal.Hash[:])
		head = seal.Head()
	}
	return r.q.InsertSeals(ctx, seals)
}

// events are the events of these ids that there are.
func (r reader) events(ctx context.Context, ids []int64) (map[int64]*audit.Event, error) {
	rows, err := r.q.RawAuditEvents(ctx, ids)
	if err != nil {
		return nil, err
	}
	events := make(map[int64]*audit.Event, len(rows))
	for _, e := range rows {
		if events[e.ID] != nil {
			return nil, fmt.Errorf("two audit events have the id %d: audit_events has lost its primary key", e.ID)
		}
		events[e.ID] = &audit.Event{ID: e.ID, Tx: e.Tx.Uint64, At: e.At, Actor: e.Actor, ActorKind: e.ActorKind, Action: e.Action,
			Object: e.Object, Application: e.Application, Environment: e.Environment, ReleaseID: e.ReleaseID, PromotionID: e.PromotionID,
			Message: e.Message, Before: e.Before, After: e.After, RequestID: e.RequestID, SourceAddress: e.SourceAddress}
	}
	return events, nil
}

func sealOf(row dbsqlc.SealsAfterRow) audit.Seal {
	return audit.Seal{Position: row.Position, EventID: row.EventID, Hash: hashOf(row.Hash),
		Batch: audit.Batch{Horizon: row.Horizon.Uint64, At: row.SealedAt}}
}

// hashOf is the zero hash for what has not a hash's length: that follows from nothing.
func hashOf(stored []byte) audit.Hash {
	if len(stored) != sha256.Size {
		return audit.Hash{}
	}
	return audit.Hash(stored)
}

func xid(n uint64) pgtype.Uint64 { return pgtype.Uint64{Uint64: n, Valid: true} }
