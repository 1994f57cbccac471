package scenario_test

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/postgres"
	"github.com/sluicehq/sluice/internal/prhost/builtin"
	"github.com/sluicehq/sluice/internal/promotion"
)

// enqueue keeps work in a table, in the transaction that decided it.
func enqueue(ctx context.Context, tx pgx.Tx, work []promotion.Work) error {
	for _, w := range work {
		if _, err := tx.Exec(ctx, "INSERT INTO scenario.work (kind, promotion_id, repository, delivery) VALUES ($1, $2, $3, $4)",
			string(w.Kind), w.PromotionID, w.Repository, w.Delivery); err != nil {
			return err
		}
	}
	return nil
}

// pushed has the repository looked at, as the server does after a push.
func (w *world) pushed(ctx context.Context, repository string, changes []builtin.RefChange) {
	for _, c := range changes {
		if err := w.service.Pushed(ctx, repository, []string{c.Ref}); err != nil {
			w.Error(err)
		}
	}
}

// takeWork takes all work that waits, oldest first, the same work once.
func (w *world) takeWork() []promotion.Work {
	w.Helper()
	rows, err := w.pool.Query(w.Context(), `WITH taken AS (DELETE FROM scenario.work RETURNING *)
		SELECT kind, promotion_id, repository, delivery FROM taken ORDER BY id`)
	w.must(err)
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (work promotion.Work, err error) {
		return work, row.Scan(&work.Kind, &work.PromotionID, &work.Repository, &work.Delivery)
	})
	w.must(err)
	var once []promotion.Work
	for _, work := range all {
		if !slices.Contains(once, work) {
			once = append(once, work)
		}
	}
	return once
}

// settle does what is enqueued, and what that enqueues, until nothing is left.
func (w *world) settle() {
	w.Helper()
	const rounds = 50
	for range rounds {
		work := w.takeWork()
		if len(work) == 0 {
			return
		}
		for _, one := range work {
			switch one.Kind {
			case promotion.WorkLook:
				w.look()
			case promotion.WorkDeliver:
				w.deliver(one.Delivery)
			default:
				w.advance(one.PromotionID)
			}
		}
	}
	w.Fatalf("work enqueues work without end: %v", w.takeWork())
}

func (w *world) look() {
	w.Helper()
	_, err := w.service.LookAtRepository(w.Context(), repository)
	w.must(err)
}

func (w *world) advance(id int64) {
	w.Helper()
	next, _, err := w.service.Advance(w.Context(), id)
	w.must(err)
	delete(w.due, id)
	if !next.IsZero() {
		w.due[id] = next
	}
}

// store is the database's.
func (w *world) store() *postgres.Store { return w.service.Store.(*postgres.Store) }

// watches has the clusters watched from when they were last until now.
func (w *world) watches(now time.Time) {
	w.Helper()
	for _, cluster := range []string{clusterName, "cluster-2"} {
		w.must(w.store().SaveWatch(w.Context(), promotion.Watch{Cluster: cluster, Server: "sluice-1:8080", From: w.watched, To: now}))
	}
	w.watched = now
}

// nobodyWatches lets time pass in which no server runs, and tells since when.
func (w *world) nobodyWatches(d time.Duration) (since time.Time) {
	w.Helper()
	since = w.clock.now()
	w.watches(since)
	w.watched = w.clock.pass(d)
	return since
}

// pass lets time pass, while the clusters are watched, and does what is due then.
func (w *world) pass(d time.Duration) {
	w.Helper()
	now := w.clock.pass(d)
	w.watches(now)
	for id, at := range w.due {
		if !at.After(now) {
			w.advance(id)
		}
	}
	w.settle()
}

// lookAtEverything is the periodic look, which finds what no event told of.
func (w *world) lookAtEverything() {
	w.Helper()
	w.look()
	w.must(w.service.AdvanceAll(w.Context()))
	w.settle()
}
