// Package web is the door for people: pages that need no JavaScript, and forms
// that turn into use cases of the domain.
package web

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// UseCases is what the pages ask of the domain.
type UseCases interface {
	Promote(ctx context.Context, by promotion.Actor, r promotion.PromoteRequest) (promotion.Promotion, error)
	Decide(ctx context.Context, by promotion.Actor, r promotion.DecideRequest) (promotion.Promotion, error)
	Merge(ctx context.Context, by promotion.Actor, id int64) (promotion.Promotion, error)
	MergeWhenPassing(ctx context.Context, by promotion.Actor, id int64, rendered string) (promotion.Promotion, error)
	WithdrawMergeWhenPassing(ctx context.Context, by promotion.Actor, id int64) (promotion.Promotion, error)
	Sync(ctx context.Context, by promotion.Actor, id int64) (promotion.Promotion, error)
	Retry(ctx context.Context, by promotion.Actor, id int64) (promotion.Promotion, error)
	Cancel(ctx context.Context, by promotion.Actor, id int64, reason string) (promotion.Promotion, error)
	AcceptUnknown(ctx context.Context, by promotion.Actor, r promotion.AcceptRequest) (promotion.Promotion, error)
	Attest(ctx context.Context, by promotion.Actor, r promotion.AttestRequest) (promotion.Attestation, error)
	ApplicationDatabases(ctx context.Context) ([]promotion.DatabaseLook, error)
	CheckRollback(ctx context.Context, r promotion.RollbackRequest) (promotion.RollbackCheck, error)
	ReleaseMigrations(ctx context.Context, r promotion.Release) (promotion.ReleaseMigrations, error)
	Chain(ctx context.Context, releaseID int64) ([]promotion.Link, error)
	Plan(ctx context.Context, r promotion.PlanRequest) (promotion.Plan, error)

	Windows(ctx context.Context, from, to time.Time) ([]promotion.TargetWindows, error)
	Standing(ctx context.Context, t promotion.Target, deployments []promotion.Deployment) (promotion.Standing, error)
	ProjectWindows(ctx context.Context, t promotion.Target, from, to time.Time) ([]promotion.DeploymentWindows, error)
	WindowZones(ctx context.Context) ([]string, error)
	PlanFreeze(ctx context.Context, z promotion.Freeze) ([]promotion.Target, error)
	Freeze(ctx context.Context, by promotion.Actor, z promotion.Freeze) (promotion.Freeze, error)
	Thaw(ctx context.Context, by promotion.Actor, id int64) error
	PauseSync(ctx context.Context, by promotion.Actor, r promotion.SyncPauseRequest) (promotion.SyncPause, error)
	ResumeSync(ctx context.Context, by promotion.Actor, application, environment string) error
	Hold(ctx context.Context, by promotion.Actor, r promotion.HoldRequest) error
	Resume(ctx context.Context, by promotion.Actor, r promotion.HoldRequest) error

	Waive(ctx context.Context, by promotion.Actor, r promotion.WaiveRequest) error

	Override(ctx context.Context, by promotion.Actor, r promotion.OverrideRequest) (promotion.Override, error)
	ReviewOverride(ctx context.Context, by promotion.Actor, id int64, review string) error
	// Overdue lists what has waited for a person for too long, longest first.
	Overdue(ctx context.Context) ([]promotion.Overdue, error)
	RestoreLive(ctx context.Context, by promotion.Actor, application, environment string) error
	TryAgain(ctx context.Context, by promotion.Actor, delivery string) error
	CloseViolation(ctx context.Context, by promotion.Actor, id int64, review string) error

	PlanRollback(ctx context.Context, r promotion.GoBackRequest) (promotion.RestorePlan, error)
	StartRollback(ctx context.Context, by promotion.Actor, r promotion.GoBackRequest) (promotion.Promotion, error)
	PlanAdopt(ctx context.Context, r promotion.AdoptRequest) (promotion.AdoptPlan, error)
	Adopt(ctx context.Context, by promotion.Actor, r promotion.AdoptRequest) (promotion.Promotion, error)
	PlanRestore(ctx context.Context, r promotion.RestoreRequest) (promotion.RestorePlan, error)
	Restore(ctx context.Context, by promotion.Actor, r promotion.RestoreRequest) (promotion.Promotion, error)
	RejectRelease(ctx context.Context, by promotion.Actor, id int64, reason string) (promotion.Release, error)
	ReopenRelease(ctx context.Context, by promotion.Actor, id int64, reason string) (promotion.Release, error)
	ClearRollback(ctx context.Context, by promotion.Actor, id int64, reason string) (promotion.Release, error)

	// Pushed has a config repository looked at, for what happened on one of its refs.
	Pushed(ctx context.Context, repository string, refs []string) error
}

// Options is what the pages need. All fields but PullRequests are required.
type Options struct {
	UseCases UseCases
	Store    promotion.Reader
	Auth     *auth.Authenticator
	// Demo lets anyone read, and sign in as one of some made-up people without a password.
	Demo bool
	// PullRequests is the built-in pull request host; nil without one.
	PullRequests PullRequests
	Log          *slog.Logger
	Now          func() time.Time
}

// Web holds the pages' handlers.
type Web struct {
	useCases     UseCases
	store        promotion.Reader
	auth         *auth.Authenticator
	demo         bool
	pullRequests PullRequests
	log          *slog.Logger
	now          func() time.Time
	pages        pages
	crossOrigin  *http.CrossOriginProtection
	board        snapshot
	closed       chan struct{}
	closeOnce    sync.Once
}

// New parses the pages.
func New(o Options) (*Web, error) {
	p, err := parsePages()
	if err != nil {
		return nil, fmt.Errorf("read the pages: %w", err)
	}
	return &Web{useCases: o.UseCases, store: o.Store, auth: o.Auth, demo: o.Demo, pullRequests: o.PullRequests, log: o.Log, now: o.Now,
		pages: p, crossOrigin: http.NewCrossOriginProtection(), closed: make(chan struct{})}, nil
}

// Close ends the event streams, which otherwise keep a server from shutting
// down for up to a minute. Give it to http.Server.RegisterOnShutdown.
func (w *Web) Close() { w.closeOnce.Do(func() { close(w.closed) }) }
