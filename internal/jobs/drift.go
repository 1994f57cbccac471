package jobs

import (
	"context"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/sluicehq/sluice/internal/promotion"
)

type driftArgs struct {
	Application string                  `json:"application"`
	Environment string                  `json:"environment"`
	Deployment  promotion.DeploymentKey `json:"deployment"`
}

func (driftArgs) Kind() string { return "drift" }

// InsertOpts has a deployment compared once, however often that was asked for meanwhile. A look that fails is not
// repeated: the next one comes soon.
func (driftArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: 1, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled}}}
}

type driftWorker struct {
	river.WorkerDefaults[driftArgs]
	uses UseCases
}

func (w *driftWorker) Work(ctx context.Context, job *river.Job[driftArgs]) error {
	return w.uses.LookForDriftOf(ctx, job.Args.Application, job.Args.Environment, job.Args.Deployment)
}

type driftAllArgs struct{}

func (driftAllArgs) Kind() string { return "drift-all" }

type driftAllWorker struct {
	river.WorkerDefaults[driftAllArgs]
	uses UseCases
}

func (w *driftAllWorker) Work(ctx context.Context, _ *river.Job[driftAllArgs]) error {
	return w.uses.LookForDrift(ctx)
}
