// Package webhooks_test holds that webhooks only say "look now": however often and in whatever order they are delivered,
// Sluice ends in the same state and writes the same.
package webhooks_test

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

const (
	deliveries = 10_000 // of the unruly host
	senders    = 4      // at once
	workers    = 4
)

var seed = flag.Uint64("seed", 0, "of the order of deliveries; 0: another one each time")

func TestRedeliveredAndReordered(t *testing.T) {
	t.Parallel()
	i := openImages(t)
	orderly, unruly := newWorld(t, i), newWorld(t, i)

	for n, chapter := range chapters() {
		orderly.deliverAll(sendings(n, chapter(orderly)))
		orderly.pass(time.Minute)
	}

	seed := cmp.Or(*seed, rand.Uint64())
	t.Logf("again in the same order: -seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var past []delivery
	distinct := map[string]bool{}
	for n, chapter := range chapters() {
		sent := sendings(n, chapter(unruly))
		past = append(past, sent...)
		for len(sent) < deliveries/len(chapters()) {
			again := past[random.IntN(len(past))]
			if random.IntN(100) == 0 { // told twice, by two webhooks
				again.id = fmt.Sprintf("%d-again-%d", n, len(sent))
			}
			sent = append(sent, again)
		}
		random.Shuffle(len(sent), func(a, b int) { sent[a], sent[b] = sent[b], sent[a] })
		for _, d := range sent {
			distinct[d.id] = true
		}
		unruly.deliverAtOnce(sent)
		unruly.pass(time.Minute)
	}

	if diff := gocmp.Diff(orderly.host.calls.all(), unruly.host.calls.all()); diff != "" {
		t.Errorf("writing calls (-one delivery in order +%d in disorder):\n%s", deliveries, diff)
	}
	if diff := gocmp.Diff(orderly.rows(), unruly.rows()); diff != "" {
		t.Errorf("state rows (-one delivery in order +%d in disorder):\n%s", deliveries, diff)
	}
	var claimed int
	unruly.must(unruly.pool.QueryRow(t.Context(), "SELECT count(*) FROM webhook_deliveries").Scan(&claimed))
	if claimed != len(distinct) {
		t.Errorf("%d deliveries are claimed of %d different ones", claimed, len(distinct))
	}
	for _, d := range past {
		unruly.deliver(d)
	}
	if work := unruly.takeWork(); len(work) > 0 {
		t.Errorf("deliveries that were claimed cause %v", work)
	}
}

// sendings are the first deliveries of a chapter's events.
func sendings(chapter int, events []event) (all []delivery) {
	for i, e := range events {
		all = append(all, delivery{e, fmt.Sprintf("%d-%d", chapter, i)})
	}
	return all
}

// deliverAll delivers in order, and has what follows done each time.
func (w *world) deliverAll(all []delivery) {
	w.Helper()
	for _, d := range all {
		w.deliver(d)
		w.settle(1)
	}
}

// deliverAtOnce sends from several goroutines while several others work.
func (w *world) deliverAtOnce(all []delivery) {
	w.Helper()
	waiting := make(chan delivery)
	var sending sync.WaitGroup
	for range senders {
		sending.Go(func() {
			for d := range waiting {
				w.deliver(d)
			}
		})
	}
	for i, d := range all {
		waiting <- d
		if i%200 == 0 {
			w.settle(workers)
		}
	}
	close(waiting)
	sending.Wait()
	w.settle(workers)
}

// rows are all that is stored, but for the claimed deliveries: by table, each row as JSON without the numbers that only order it,
// and without the note that a commit was held against the promotions: what came of that is in the violations.
func (w *world) rows() map[string][]string {
	w.Helper()
	rows, err := w.pool.Query(w.Context(), `SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
		WHERE schemaname IN ('public', 'prhost') AND tablename NOT LIKE 'river%' AND tablename NOT IN ('goose_db_version', 'webhook_deliveries')`)
	w.must(err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	w.must(err)
	all := map[string][]string{}
	for _, table := range tables {
		rows, err := w.pool.Query(w.Context(), fmt.Sprintf("SELECT (to_jsonb(x) - '{id,tx,examined}'::text[])::text FROM %s x ORDER BY 1", table))
		w.must(err)
		texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		w.must(err)
		for i := range texts {
			texts[i] = strings.ReplaceAll(texts[i], w.url, "https://host.example.test")
		}
		all[table] = texts
	}
	return all
}
