package jobs

import (
	"context"
	"log/slog"

	"github.com/riverqueue/river"
)

type sealArgs struct{}

func (sealArgs) Kind() string { return "seal-audit" }

type sealWorker struct {
	river.WorkerDefaults[sealArgs]
	seal Sealer
}

func (w *sealWorker) Work(ctx context.Context, _ *river.Job[sealArgs]) error {
	_, err := w.seal(ctx)
	return err
}

type noteHeadArgs struct{}

func (noteHeadArgs) Kind() string { return "note-audit-head" }

// noteHeadWorker writes the end of the chain where the database's owner cannot change it: into the log.
type noteHeadWorker struct {
	river.WorkerDefaults[noteHeadArgs]
	seal Sealer
	log  *slog.Logger
}

func (w *noteHeadWorker) Work(ctx context.Context, _ *river.Job[noteHeadArgs]) error {
	head, err := w.seal(ctx)
	if err == nil {
		w.log.Info("the audit is sealed", "head", head)
	}
	return err
}
