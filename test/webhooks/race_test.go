package webhooks_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// One worker reads main while another finds that the very commit is a merge, as happens with every merge of which the host
// tells twice: by a push and by a pull request. Whoever is quicker, the commit is the promotion's and no violation.
func TestAMergeIsFoundWhileMainIsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openImages(t))
	w.deliverAll(sendings(0, w.everybodyOpens()))
	w.deliverAll(sendings(1, w.peopleReview()))
	p := w.of(orders)
	_, err := w.builtin.Repository(repository).Merge(t.Context(), orders, p.HeadSHA, "Merge by the button", otto, "")
	w.must(err)

	var advancing sync.WaitGroup
	once := sync.OnceFunc(func() {
		done := make(chan struct{})
		advancing.Go(func() {
			defer close(done)
			if _, _, err := w.service.Advance(t.Context(), p.ID); err != nil {
				t.Error(err)
			}
		})
		w.untilDoneOrLocked(done)
	})
	w.service.Store = between{w.service.Store, once}
	w.must(w.do(promotion.Work{Kind: promotion.WorkLook, Repository: repository}))
	advancing.Wait()
	w.settle(1)

	var of int64
	w.must(w.pool.QueryRow(t.Context(), "SELECT coalesce(promotion_id, 0) FROM target_revisions WHERE commit = $1", w.of(orders).MergeSHA).Scan(&of))
	if of != p.ID {
		t.Errorf("the merge is of promotion %d, want %d", of, p.ID)
	}
}

// between does something after a reader of main has asked whether a commit is a promotion's merge, and before it says so.
type between struct {
	promotion.Store
	do func()
}

func (s between) Tx(ctx context.Context, fn func(promotion.Tx) error) error {
	return s.Store.Tx(ctx, func(tx promotion.Tx) error { return fn(betweenTx{tx, s.do}) })
}

type betweenTx struct {
	promotion.Tx
	do func()
}

func (tx betweenTx) PromotionByCommit(ctx context.Context, targetID int64, sha string) (int64, error) {
	id, err := tx.Tx.PromotionByCommit(ctx, targetID, sha)
	tx.do()
	return id, err
}

// untilDoneOrLocked waits until a goroutine is done, or the database makes it wait.
func (w *world) untilDoneOrLocked(done <-chan struct{}) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-w.Context().Done():
			return
		case <-tick.C:
		}
		var locked bool
		err := w.pool.QueryRow(w.Context(), "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')").Scan(&locked)
		if err != nil {
			w.Error(err)
		}
		if locked || err != nil {
			return
		}
	}
}
