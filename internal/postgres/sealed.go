package postgres

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/audit"
	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
)

// AuditReport is what a verification went over.
type AuditReport struct {
	Head    audit.Head // the newest
	Pending int        // events that are not sealed yet, which is as it should be for the newest
}

// VerifyAudit goes over the whole audit as it is at this moment, in batches, and calls found
// for everything that is not as it was sealed. A head to expect may be nil.
func (s *Store) VerifyAudit(ctx context.Context, expect *audit.Head, found func(audit.Finding)) (AuditReport, error) {
	var report AuditReport
	err := s.audited(ctx, func(r reader) error {
		v := audit.NewVerifier(expect, found)
		if err := r.entries(ctx, v.Add); err != nil {
			return err
		}
		report.Head = v.End()
		horizon, err := r.q.AuditHorizon(ctx)
		if err != nil {
			return err
		}
		return r.unsealed(ctx, func(k audit.Key) {
			if v.Unsealed(k, horizon.Uint64) {
				report.Pending++
			}
		})
	})
	if err != nil {
		return report, fmt.Errorf("verify the audit: %w", err)
	}
	return report, nil
}

// AuditSelection says which events to export. Zero values select all.
type AuditSelection struct {
	Since, Until time.Time // from Since on, before Until
	Application  string
}

// ExportAudit calls each for the selected events in order of id, with a zero seal for those
// that have none yet.
func (s *Store) ExportAudit(ctx context.Context, which AuditSelection, each func(audit.Entry) error) error {
	err := s.audited(ctx, func(r reader) error {
		params := dbsqlc.AuditEventsToExportParams{Since: nullTime(which.Since), Until: nullTime(which.Until),
			Application: which.Application, After: math.MinInt64, Most: sealBatch}
		for {
			ids, err := r.q.AuditEventsToExport(ctx, params)
			if err != nil || len(ids) == 0 {
				return err
			}
			params.After = ids[len(ids)-1]
			if err := r.export(ctx, ids, each); err != nil {
				return err
			}
		}
	})
	if err != nil {
		return fmt.Errorf("export the audit: %w", err)
	}
	return nil
}

func (r reader) export(ctx context.Context, ids []int64, each func(audit.Entry) error) error {
	events, err := r.events(ctx, ids)
	if err != nil {
		return err
	}
	rows, err := r.q.SealsOf(ctx, ids)
	if err != nil {
		return err
	}
	seals := make(map[int64]audit.Seal, len(rows))
	for _, row := range rows {
		seals[row.EventID] = sealOf(dbsqlc.SealsAfterRow(row))
	}
	for _, id := range ids {
		if err := each(audit.Entry{Seal: seals[id], Event: events[id]}); err != nil {
			return err
		}
	}
	return nil
}

// audited reads from one snapshot, so that sealing meanwhile changes nothing.
func (s *Store) audited(ctx context.Context, fn func(reader) error) error {
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return pgx.BeginTxFunc(ctx, s.pool, options, func(pgtx pgx.Tx) error { return fn(reader{s.q.WithTx(pgtx)}) })
}

// entries calls each for the chain's entries, in order of position.
func (r reader) entries(ctx context.Context, each func(audit.Entry)) error {
	var ids []int64
	for after := int64(math.MinInt64); ; {
		rows, err := r.q.SealsAfter(ctx, dbsqlc.SealsAfterParams{Position: after, Most: sealBatch})
		if err != nil || len(rows) == 0 {
			return err
		}
		ids = ids[:0]
		for _, row := range rows {
			ids = append(ids, row.EventID)
		}
		events, err := r.events(ctx, ids)
		if err != nil {
			return err
		}
		for _, row := range rows {
			each(audit.Entry{Seal: sealOf(row), Event: events[row.EventID]})
		}
		after = rows[len(rows)-1].Position
	}
}

// unsealed calls each for the events without a seal, in the order of sealing.
func (r reader) unsealed(ctx context.Context, each func(audit.Key)) error {
	for after := (dbsqlc.UnsealedEventsRow{Tx: xid(0), ID: math.MinInt64}); ; {
		rows, err := r.q.UnsealedEvents(ctx, dbsqlc.UnsealedEventsParams{Tx: after.Tx, ID: after.ID, Most: sealBatch})
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			each(audit.Key{Tx: row.Tx.Uint64, ID: row.ID})
		}
		after = rows[len(rows)-1]
	}
}
