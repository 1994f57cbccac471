package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"github.com/sluicehq/sluice/internal/promotion"
)

type advanceArgs struct {
	PromotionID int64 `json:"promotion_id"`
}

func (advanceArgs) Kind() string { return "advance" }

type advanceWorker struct {
	river.WorkerDefaults[advanceArgs]
	uses UseCases
}

// busyAgain is how soon to try again what another server is at.
const busyAgain = 300 * time.Millisecond

func (w *advanceWorker) Work(ctx context.Context, job *river.Job[advanceArgs]) error {
	next, busy, err := w.uses.Advance(ctx, job.Args.PromotionID)
	switch {
	case err != nil:
		return limited(err)
	case busy:
		return river.JobSnooze(busyAgain)
	case !next.IsZero():
		return river.JobSnooze(max(time.Until(next), busyAgain))
	}
	return nil
}

// limited puts work to sleep until a host that limits requests lets it through
// again; it is not a failed attempt.
func limited(err error) error {
	var limit promotion.Limited
	if errors.As(err, &limit) {
		return river.JobSnooze(max(time.Until(limit.RetryAt()), busyAgain))
	}
	return err
}

type lookArgs struct {
	Repository string `json:"repository"`
}

func (lookArgs) Kind() string { return "look" }

type lookWorker struct {
	river.WorkerDefaults[lookArgs]
	uses UseCases
}

func (w *lookWorker) Work(ctx context.Context, job *river.Job[lookArgs]) error {
	busy, err := w.uses.LookAtRepository(ctx, job.Args.Repository)
	if err == nil && busy {
		return river.JobSnooze(busyAgain)
	}
	return limited(err)
}

// Timeout implements river.Worker: the first look at a large repository imports its past.
func (w *lookWorker) Timeout(*river.Job[lookArgs]) time.Duration { return firstLook }

const firstLook = 20 * time.Minute

type advanceAllArgs struct{}

func (advanceAllArgs) Kind() string { return "advance-all" }

type advanceAllWorker struct {
	river.WorkerDefaults[advanceAllArgs]
	uses UseCases
}

func (w *advanceAllWorker) Work(ctx context.Context, _ *river.Job[advanceAllArgs]) error {
	return w.uses.AdvanceAll(ctx)
}
