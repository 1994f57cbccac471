package telemetry

import (
	"context"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Store is asked at every scrape. Each call is one cheap query and ends with ctx.
type Store interface {
	RepositoryStates(ctx context.Context) ([]Repository, error)
	PromotionCounts(ctx context.Context) ([]Promotions, error)
	HoldingGates(ctx context.Context) ([]HoldingGate, error)
	ExceptionCounts(ctx context.Context, at time.Time) (Exceptions, error)
	DeploymentCounts(ctx context.Context) ([]Deployments, error)
	AuditBacklog(ctx context.Context, at time.Time) (AuditBacklog, error)
	JobCounts(ctx context.Context) ([]Jobs, error)
}

// Repository is what is known of a config repository.
type Repository struct {
	Name         string
	LookedAt     time.Time // zero: never
	Problem      bool      // the last look failed
	PolicyFaults int64     // of the policy on its main branch; the one before is in force while there are any
	PolicySince  time.Time // since when the policy in force holds; the Unix epoch: none was read yet
}

// Promotions are the unfinished promotions of an environment in one state.
type Promotions struct {
	Environment       string
	State             promotion.State
	Count             int64
	OldestRequestedAt time.Time
}

// HoldingGate is an enforced gate that stops promotions now.
type HoldingGate struct {
	Gate, Environment string
	Promotions        int64
}

// Exceptions counts what people let through, stopped or must look at.
type Exceptions struct {
	ViolationsOpen      int64
	OverridesInForce    int64
	OverridesUnreviewed int64
	Holds               int64
	FreezesActive       int64
}

// Deployments are those of targets in one cluster with the same sync and health.
type Deployments struct {
	Cluster, Sync, Health string
	Count                 int64
	NewestObservedAt      time.Time // when the last of them changed
}

// AuditBacklog is what the audit's chain has not sealed yet.
type AuditBacklog struct {
	Unsealed int64     // at most 10,000 are counted
	OldestAt time.Time // of the oldest unsealed event; the moment asked for when there is none
}

// Jobs are those of the queue that are to run, run, or were given up.
type Jobs struct {
	State, Kind string
	Count       int64
}
