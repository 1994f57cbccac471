package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

type deliverArgs struct {
	Delivery string `json:"delivery"`
}

func (deliverArgs) Kind() string { return "deliver" }

// InsertOpts gives a receiver that is down a good day to come back.
func (deliverArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{MaxAttempts: 40} }

type deliverWorker struct {
	river.WorkerDefaults[deliverArgs]
	uses UseCases
}

func (w *deliverWorker) Work(ctx context.Context, job *river.Job[deliverArgs]) error {
	return w.uses.Deliver(ctx, job.Args.Delivery)
}

// NextRetry doubles the pause up to an hour.
func (w *deliverWorker) NextRetry(job *river.Job[deliverArgs]) time.Time {
	return time.Now().Add(min(time.Second<<min(len(job.Errors), 12), time.Hour))
}

type remindArgs struct{}

func (remindArgs) Kind() string { return "remind" }

type remindWorker struct {
	river.WorkerDefaults[remindArgs]
	uses UseCases
}

func (w *remindWorker) Work(ctx context.Context, _ *river.Job[remindArgs]) error {
	return w.uses.Remind(ctx)
}
