// Package jobs decides when work is done: by River workers, durably, on any number of
// servers. What is done is the domain's; retries are decided here and nowhere else.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"github.com/sluicehq/sluice/internal/promotion"
)

// UseCases are the domain's use cases that workers run.
type UseCases interface {
	Advance(ctx context.Context, promotionID int64) (next time.Time, busy bool, err error)
	LookAtRepository(ctx context.Context, name string) (busy bool, err error)
	AdvanceAll(ctx context.Context) error
	LookForDrift(ctx context.Context) error
	LookForDriftOf(ctx context.Context, application, environment string, d promotion.DeploymentKey) error
	Deliver(ctx context.Context, delivery string) error
	Remind(ctx context.Context) error
}

// Intervals between the looks that find what no event told of.
type Intervals struct {
	Repositories time.Duration // of config repositories
	Promotions   time.Duration // of unfinished promotions
	Sealing      time.Duration // of the audit
	Drift        time.Duration // of live objects
	Reminders    time.Duration // of what is overdue
}

// Sealer seals the audit events that are not sealed yet, and says how the chain then ends.
type Sealer func(ctx context.Context) (head string, err error)

// Queue holds work and runs it.
type Queue struct {
	client *river.Client[pgx.Tx]
}

// Enqueuer returns a queue that only takes work; Start of a Queue runs it.
func Enqueuer(pool *pgxpool.Pool) (*Queue, error) {
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{})
	if err != nil {
		return nil, fmt.Errorf("prepare the queue: %w", err)
	}
	return &Queue{client}, nil
}

// Workers returns a queue whose work is run by this process once started.
func Workers(pool *pgxpool.Pool, uses UseCases, seal Sealer, repositories []string, every Intervals, log *slog.Logger) (*Queue, error) {
	if least := min(every.Repositories, every.Promotions, every.Sealing, every.Drift, every.Reminders); least <= 0 {
		return nil, fmt.Errorf("an interval between looks is %v: the queue would do nothing else", least)
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, &advanceWorker{uses: uses})
	river.AddWorker(workers, &lookWorker{uses: uses})
	river.AddWorker(workers, &advanceAllWorker{uses: uses})
	river.AddWorker(workers, &driftWorker{uses: uses})
	river.AddWorker(workers, &driftAllWorker{uses: uses})
	river.AddWorker(workers, &deliverWorker{uses: uses})
	river.AddWorker(workers, &remindWorker{uses: uses})
	river.AddWorker(workers, &sealWorker{seal: seal})
	river.AddWorker(workers, &noteHeadWorker{seal: seal, log: log})
	periodic := []*river.PeriodicJob{
		river.NewPeriodicJob(river.PeriodicInterval(every.Promotions), func() (river.JobArgs, *river.InsertOpts) { return advanceAllArgs{}, nil }, nil),
		river.NewPeriodicJob(river.PeriodicInterval(every.Drift), func() (river.JobArgs, *river.InsertOpts) { return driftAllArgs{}, nil }, nil),
		river.NewPeriodicJob(river.PeriodicInterval(every.Reminders), func() (river.JobArgs, *river.InsertOpts) { return remindArgs{}, nil }, nil),
		river.NewPeriodicJob(river.PeriodicInterval(every.Sealing), func() (river.JobArgs, *river.InsertOpts) { return sealArgs{}, nil }, nil),
		river.NewPeriodicJob(river.PeriodicInterval(time.Hour), func() (river.JobArgs, *river.InsertOpts) { return noteHeadArgs{}, nil }, nil),
	}
	for _, name := range repositories {
		periodic = append(periodic, river.NewPeriodicJob(river.PeriodicInterval(every.Repositories),
			func() (river.JobArgs, *river.InsertOpts) { return lookArgs{Repository: name}, nil }, nil))
	}
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Logger:            slog.New(quiet{log.Handler()}),
		Workers:           workers,
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: MaxWorkers}},
		PeriodicJobs:      periodic,
		JobTimeout:        jobTimeout,
		RetryPolicy:       retries{},
		FetchCooldown:     20 * time.Millisecond,
		FetchPollInterval: 500 * time.Millisecond,
		// A killed server's jobs are taken over as soon as they cannot be running any more.
		RescueStuckJobsAfter: jobTimeout + 30*time.Second,
		ErrorHandler:         &errorLog{log},
	})
	if err != nil {
		return nil, fmt.Errorf("prepare the workers: %w", err)
	}
	return &Queue{client}, nil
}

// MaxWorkers is how many jobs one server runs at once.
const MaxWorkers = 8

const jobTimeout = 2 * time.Minute

// Start runs work until Stop.
func (q *Queue) Start(ctx context.Context) error { return q.client.Start(ctx) }

// Stop lets running jobs end, until ctx ends; then they are cut off and run again later.
func (q *Queue) Stop(ctx context.Context) error {
	if err := q.client.Stop(ctx); err != nil {
		cut, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return errors.Join(err, q.client.StopAndCancel(cut))
	}
	return nil
}

// InsertTx stores work in a transaction of the domain's.
func (q *Queue) InsertTx(ctx context.Context, tx pgx.Tx, work []promotion.Work) error {
	params := make([]river.InsertManyParams, 0, len(work))
	for _, w := range work {
		args, err := argsOf(w)
		if err != nil {
			return err
		}
		params = append(params, river.InsertManyParams{Args: args, InsertOpts: &river.InsertOpts{ScheduledAt: w.At}})
	}
	_, err := q.client.InsertManyFastTx(ctx, tx, params)
	return err
}

// LookAtAll has everything looked at now, as a server does when it starts: a
// killed one may have left any work half done.
func (q *Queue) LookAtAll(ctx context.Context, repositories []string) error {
	for _, name := range repositories {
		if err := q.LookNow(ctx, name); err != nil {
			return err
		}
	}
	_, err := q.client.Insert(ctx, advanceAllArgs{}, nil)
	return err
}

// LookNow has a config repository looked at: something was pushed.
func (q *Queue) LookNow(ctx context.Context, repository string) error {
	_, err := q.client.Insert(ctx, lookArgs{Repository: repository}, nil)
	return err
}

func argsOf(w promotion.Work) (river.JobArgs, error) {
	switch w.Kind {
	case promotion.WorkAdvance:
		return advanceArgs{PromotionID: w.PromotionID}, nil
	case promotion.WorkLook:
		return lookArgs{Repository: w.Repository}, nil
	case promotion.WorkDrift:
		return driftArgs{Application: w.Application, Environment: w.Environment, Deployment: w.Deployment}, nil
	case promotion.WorkDeliver:
		return deliverArgs{Delivery: w.Delivery}, nil
	}
	return nil, fmt.Errorf("unknown kind of work %q", w.Kind)
}

// quiet passes on warnings and worse: River tells of its ordinary life at level info.
type quiet struct{ slog.Handler }

func (q quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && q.Handler.Enabled(ctx, l)
}

// retries are quick at first, since most failures are a race or a restart, and
// never stop before the job's attempts are used up; the periodic look goes on for ever.
type retries struct{}

func (retries) NextRetry(job *rivertype.JobRow) time.Time {
	delay := time.Second << min(len(job.Errors), 6)
	return time.Now().Add(delay)
}

// errorLog is the edge at which a job's failure is logged, once.
type errorLog struct{ log *slog.Logger }

func (e *errorLog) HandleError(_ context.Context, job *rivertype.JobRow, err error) *river.ErrorHandlerResult {
	e.log.Warn("work failed and is tried again", "kind", job.Kind, "args", string(job.EncodedArgs), "attempt", job.Attempt, "err", err)
	return nil
}

func (e *errorLog) HandlePanic(_ context.Context, job *rivertype.JobRow, panicked any, trace string) *river.ErrorHandlerResult {
	e.log.Error("work panicked", "kind", job.Kind, "args", string(job.EncodedArgs), "panic", panicked, "trace", trace)
	return nil
}
