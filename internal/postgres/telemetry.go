package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/telemetry"
)

var _ telemetry.Store = (*Store)(nil)

// RepositoryStates implements telemetry.Store, as do the methods below.
func (s *Store) RepositoryStates(ctx context.Context) ([]telemetry.Repository, error) {
	rows, err := s.q.RepositoryStates(ctx)
	all := make([]telemetry.Repository, len(rows))
	for i, r := range rows {
		all[i] = telemetry.Repository{Name: r.Name, LookedAt: value(r.LookedAt), Problem: r.Problem, PolicyFaults: r.PolicyFaults, PolicySince: r.PolicySince}
	}
	return all, err
}

// PromotionCounts are of the unfinished promotions.
func (s *Store) PromotionCounts(ctx context.Context) ([]telemetry.Promotions, error) {
	rows, err := s.q.PromotionCounts(ctx)
	all := make([]telemetry.Promotions, len(rows))
	for i, r := range rows {
		all[i] = telemetry.Promotions{Environment: r.Environment, State: promotion.State(r.State), Count: r.Promotions, OldestRequestedAt: r.OldestRequestedAt}
	}
	return all, err
}

// HoldingGates are those that stop an unfinished promotion in the phase it is in.
func (s *Store) HoldingGates(ctx context.Context) ([]telemetry.HoldingGate, error) {
	rows, err := s.q.HoldingGates(ctx)
	all := make([]telemetry.HoldingGate, len(rows))
	for i, r := range rows {
		all[i] = telemetry.HoldingGate(r)
	}
	return all, err
}

// ExceptionCounts are those at a moment.
func (s *Store) ExceptionCounts(ctx context.Context, at time.Time) (telemetry.Exceptions, error) {
	row, err := s.q.ExceptionCounts(ctx, at)
	return telemetry.Exceptions(row), err
}

// DeploymentCounts are of the deployments of targets that main still has.
func (s *Store) DeploymentCounts(ctx context.Context) ([]telemetry.Deployments, error) {
	rows, err := s.q.DeploymentCounts(ctx)
	all := make([]telemetry.Deployments, len(rows))
	for i, r := range rows {
		all[i] = telemetry.Deployments{Cluster: r.Cluster, Sync: r.Sync, Health: r.Health, Count: r.Deployments, NewestObservedAt: r.NewestObservedAt}
	}
	return all, err
}

// AuditBacklog is what is not sealed yet.
func (s *Store) AuditBacklog(ctx context.Context, at time.Time) (telemetry.AuditBacklog, error) {
	newest, err := s.q.NewestSealedEvent(ctx)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return telemetry.AuditBacklog{}, err
	}
	row, err := s.q.AuditBacklog(ctx, dbsqlc.AuditBacklogParams{At: at, NewestSealed: newest.ID})
	return telemetry.AuditBacklog(row), err
}

// jobCounts leaves out what was done or cancelled, which is most of the table. The table is
// River's, not of our migrations, so the query is not generated.
const jobCounts = `SELECT state::text, kind, count(*) FROM river_job
WHERE state IN ('available', 'discarded', 'pending', 'retryable', 'running', 'scheduled') GROUP BY state, kind ORDER BY state, kind`

// JobCounts are of the jobs that are to run, run, or were given up.
func (s *Store) JobCounts(ctx context.Context) ([]telemetry.Jobs, error) {
	rows, err := s.pool.Query(ctx, jobCounts)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[telemetry.Jobs])
}
