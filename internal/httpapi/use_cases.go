package httpapi

import (
	"context"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// UseCases is what the API asks of the domain.
type UseCases interface {
	RecordBuild(ctx context.Context, by promotion.Actor, r promotion.BuildRequest) (out promotion.BuildOutcome, created bool, err error)
	Build(ctx context.Context, id int64) (promotion.BuildOutcome, error)
	PostEvidence(ctx context.Context, by promotion.Actor, r promotion.EvidenceRequest) (promotion.Evidence, error)
	Attest(ctx context.Context, by promotion.Actor, r promotion.AttestRequest) (promotion.Attestation, error)
	ReleaseMigrations(ctx context.Context, r promotion.Release) (promotion.ReleaseMigrations, error)
	Chain(ctx context.Context, releaseID int64) ([]promotion.Link, error)
	RejectRelease(ctx context.Context, by promotion.Actor, id int64, reason string) (promotion.Release, error)
	ReopenRelease(ctx context.Context, by promotion.Actor, id int64, reason string) (promotion.Release, error)
	ClearRollback(ctx context.Context, by promotion.Actor, id int64, reason string) (promotion.Release, error)

	Plan(ctx context.Context, r promotion.PlanRequest) (promotion.Plan, error)
	Promote(ctx context.Context, by promotion.Actor, r promotion.PromoteRequest) (promotion.Promotion, error)
	Decide(ctx context.Context, by promotion.Actor, r promotion.DecideRequest) (promotion.Promotion, error)
	Merge(ctx context.Context, by promotion.Actor, id int64) (promotion.Promotion, error)
	MergeWhenPassing(ctx context.Context, by promotion.Actor, id int64, rendered string) (promotion.Promotion, error)
	WithdrawMergeWhenPassing(ctx context.Context, by promotion.Actor, id int64) (promotion.Promotion, error)
	Sync(ctx context.Context, by promotion.Actor, id int64) (promotion.Promotion, error)
	Retry(ctx context.Context, by promotion.Actor, id int64) (promotion.Promotion, error)
	Cancel(ctx context.Context, by promotion.Actor, id int64, reason string) (promotion.Promotion, error)
	PlanRollback(ctx context.Context, r promotion.GoBackRequest) (promotion.RestorePlan, error)
	StartRollback(ctx context.Context, by promotion.Actor, r promotion.GoBackRequest) (promotion.Promotion, error)
	PlanRestore(ctx context.Context, r promotion.RestoreRequest) (promotion.RestorePlan, error)
	Restore(ctx context.Context, by promotion.Actor, r promotion.RestoreRequest) (promotion.Promotion, error)
	PlanAdopt(ctx context.Context, r promotion.AdoptRequest) (promotion.AdoptPlan, error)
	Adopt(ctx context.Context, by promotion.Actor, r promotion.AdoptRequest) (promotion.Promotion, error)
	CheckRollback(ctx context.Context, r promotion.RollbackRequest) (promotion.RollbackCheck, error)
	RollbackVerdict(ctx context.Context, id int64) (promotion.RollbackVerdict, error)
	AcceptUnknown(ctx context.Context, by promotion.Actor, r promotion.AcceptRequest) (promotion.Promotion, error)

	Windows(ctx context.Context, from, to time.Time) ([]promotion.TargetWindows, error)
	PlanFreeze(ctx context.Context, z promotion.Freeze) ([]promotion.Target, error)
	Freeze(ctx context.Context, by promotion.Actor, z promotion.Freeze) (promotion.Freeze, error)
	Thaw(ctx context.Context, by promotion.Actor, id int64) error
	Hold(ctx context.Context, by promotion.Actor, r promotion.HoldRequest) error
	Resume(ctx context.Context, by promotion.Actor, r promotion.HoldRequest) error
	PauseSync(ctx context.Context, by promotion.Actor, r promotion.SyncPauseRequest) (promotion.SyncPause, error)
	ResumeSync(ctx context.Context, by promotion.Actor, application, environment string) error

	Waive(ctx context.Context, by promotion.Actor, r promotion.WaiveRequest) error
	Override(ctx context.Context, by promotion.Actor, r promotion.OverrideRequest) (promotion.Override, error)
	ReviewOverride(ctx context.Context, by promotion.Actor, id int64, review string) error
	TryAgain(ctx context.Context, by promotion.Actor, delivery string) error
	CloseViolation(ctx context.Context, by promotion.Actor, id int64, review string) error
}
