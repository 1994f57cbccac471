package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sluicehq/sluice/internal/audit"
	"github.com/sluicehq/sluice/internal/postgres"
	"github.com/sluicehq/sluice/internal/postgres/postgrestest"
	"github.com/sluicehq/sluice/migrations"
)

func migrate(ctx context.Context, url string) error {
	return postgres.Migrate(ctx, url, migrations.Files)
}

// trail is a database with an audit, and what a test does to it.
type trail struct {
	testing.TB
	url   string
	pool  *pgxpool.Pool
	store *postgres.Store
}

func newTrail(t testing.TB) *trail {
	t.Helper()
	return trailFrom(t, migrate)
}

func trailFrom(t testing.TB, template func(context.Context, string) error) *trail {
	t.Helper()
	url := postgrestest.NewDatabase(t, template)
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 8
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return &trail{TB: t, url: url, pool: pool, store: postgres.NewStore(pool, nil)}
}

type execer interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

const insertEvent = `INSERT INTO audit_events (at, actor, actor_kind, action, object, message, after)
	VALUES (now(), 'ada', 'person', 'promotion.requested', 'promotion/1', $1, '{"state": "open", "by": ["a", 1.50]}') RETURNING id`

func (t *trail) write(where execer, message string) (id int64) {
	t.Helper()
	if err := where.QueryRow(context.Background(), insertEvent, message).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

func (t *trail) exec(sql string, args ...any) {
	t.Helper()
	if _, err := t.pool.Exec(context.Background(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// tamper does what triggers and foreign keys refuse.
func (t *trail) tamper(sql string) {
	t.Helper()
	err := pgx.BeginFunc(context.Background(), t.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(context.Background(), "SET LOCAL session_replication_role = replica; "+sql)
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (t *trail) seal() int {
	t.Helper()
	n, _, err := t.store.SealAudit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (t *trail) verify(expect *audit.Head) (postgres.AuditReport, []audit.Finding) {
	t.Helper()
	var findings []audit.Finding
	report, err := t.store.VerifyAudit(context.Background(), expect, func(f audit.Finding) { findings = append(findings, f) })
	if err != nil {
		t.Fatal(err)
	}
	return report, findings
}

// sealAll seals an untouched audit until nothing is pending.
func (t *trail) sealAll() audit.Head {
	t.Helper()
	var findings []audit.Finding
	head, err := sealPending(context.Background(), t.store, &findings)
	if err != nil || len(findings) > 0 {
		t.Fatalf("error %v, findings in an untouched audit: %v", err, findings)
	}
	return head
}

// sealPending seals until nothing is pending: transactions of other tests on the same
// server may hold it up. Findings are those of the last look.
func sealPending(ctx context.Context, store *postgres.Store, findings *[]audit.Finding) (audit.Head, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, _, err := store.SealAudit(ctx); err != nil {
			return audit.Head{}, err
		}
		var found []audit.Finding
		report, err := store.VerifyAudit(ctx, nil, func(f audit.Finding) { found = append(found, f) })
		if err != nil {
			return audit.Head{}, err
		}
		if report.Pending == 0 {
			if findings != nil {
				*findings = found
			}
			return report.Head, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return audit.Head{}, fmt.Errorf("%d events are not sealed: %w", report.Pending, ctx.Err())
		}
	}
}

// sealed is the ids in the order of the chain.
func (t *trail) sealed() []int64 {
	t.Helper()
	rows, err := t.pool.Query(context.Background(), "SELECT event_id FROM audit_chain ORDER BY position")
	if err != nil {
		t.Fatal(err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func (t *trail) begin() pgx.Tx {
	t.Helper()
	tx, err := t.pool.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

func (t *trail) must(err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestASlowTransactionIsWaitedFor(t *testing.T) {
	t.Parallel()
	a, ctx := newTrail(t), context.Background()
	slow := a.begin()
	_, err := slow.Exec(ctx, "SELECT pg_current_xact_id()")
	a.must(err)
	quick := a.write(a.pool, "quick")
	late := a.write(slow, "slow")
	if n := a.seal(); n != 0 {
		t.Errorf("sealed %d events that a running transaction may come before", n)
	}
	if report, findings := a.verify(nil); report.Pending != 1 || report.Head != audit.Genesis() || len(findings) > 0 {
		t.Errorf("report %+v, findings %v", report, findings)
	}
	a.must(slow.Commit(ctx))
	if head := a.sealAll(); head.Position != 2 {
		t.Errorf("head %v", head)
	}
	if got := a.sealed(); !slices.Equal(got, []int64{late, quick}) {
		t.Errorf("sealed %v, want the older transaction's event %d before %d", got, late, quick)
	}
	if head, err := a.store.AuditHead(ctx); err != nil || head.Position != 2 {
		t.Errorf("head %v, error %v", head, err)
	}
}

// TestRunningTransactionIsNoLatecomer seals an event while a transaction of a higher number
// already holds a lower id: it began before the sealing, whatever had ended by then.
func TestRunningTransactionIsNoLatecomer(t *testing.T) {
	t.Parallel()
	a, ctx := newTrail(t), context.Background()
	for range 20 {
		first, second := a.begin(), a.begin()
		for _, tx := range []pgx.Tx{first, second} {
			_, err := tx.Exec(ctx, "SELECT pg_current_xact_id()")
			a.must(err)
		}
		a.write(second, "lower id, higher number")
		a.write(first, "higher id, lower number")
		a.must(first.Commit(ctx))
		a.seal()
		a.must(second.Commit(ctx))
		a.sealAll()
		if _, findings := a.verify(nil); len(findings) > 0 {
			t.Fatal(findings)
		}
	}
}

// TestNoEventIsEverSkipped interleaves writers' steps with sealing, by seed.
func TestNoEventIsEverSkipped(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			interleave(newTrail(t), rand.New(rand.NewPCG(seed, 5)))
		})
	}
}

func interleave(t *trail, random *rand.Rand) {
	ctx := context.Background()
	var open []pgx.Tx
	written := map[pgx.Tx][]int64{}
	var committed []int64
	end := func(i int, commit bool) {
		tx := open[i]
		open = slices.Delete(open, i, i+1)
		if !commit {
			t.must(tx.Rollback(ctx))
			return
		}
		t.must(tx.Commit(ctx))
		committed = append(committed, written[tx]...)
	}
	for step := range 250 {
		pick := -1
		if len(open) > 0 {
			pick = random.IntN(len(open))
		}
		switch n := random.IntN(10); {
		case n < 2 && len(open) < 4, pick < 0:
			tx := t.begin()
			if random.IntN(2) == 0 {
				_, err := tx.Exec(ctx, "SELECT pg_current_xact_id()")
				t.must(err)
			}
			open = append(open, tx)
		case n < 5:
			written[open[pick]] = append(written[open[pick]], t.write(open[pick], fmt.Sprint(step)))
		case n < 6: // within a savepoint, as half of it is taken back
			sub, err := open[pick].Begin(ctx)
			t.must(err)
			id := t.write(sub, "within")
			if random.IntN(2) == 0 {
				t.must(sub.Rollback(ctx))
			} else {
				t.must(sub.Commit(ctx))
				written[open[pick]] = append(written[open[pick]], id)
			}
		case n < 8:
			end(pick, random.IntN(4) > 0)
		default:
			t.seal()
			if _, findings := t.verify(nil); len(findings) > 0 {
				t.Fatalf("step %d: %v", step, findings)
			}
		}
	}
	for len(open) > 0 {
		end(0, true)
	}
	t.sealAll()
	got := t.sealed()
	slices.Sort(got)
	slices.Sort(committed)
	if !slices.Equal(got, committed) {
		t.Errorf("sealed %v\ncommitted %v", got, committed)
	}
}

// TestSealersAndWritersAtOnce has two sealers race each other and the writers.
func TestSealersAndWritersAtOnce(t *testing.T) {
	t.Parallel()
	const writers, each = 4, 60
	a, done := newTrail(t), make(chan struct{})
	var writing, sealing sync.WaitGroup
	for range writers {
		writing.Go(func() {
			for i := range each {
				if _, err := a.pool.Exec(context.Background(), insertEvent, fmt.Sprint(i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 2 {
		sealing.Go(func() {
			for {
				if _, _, err := a.store.SealAudit(context.Background()); err != nil {
					t.Error(err)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	writing.Wait()
	close(done)
	sealing.Wait()
	if head := a.sealAll(); head.Position != writers*each {
		t.Errorf("sealed up to %d, want %d", head.Position, writers*each)
	}
}

// TestADumpOfAnotherServer has rows whose transactions this server has not reached.
func TestADumpOfAnotherServer(t *testing.T) {
	t.Parallel()
	a := newTrail(t)
	a.exec(`INSERT INTO audit_events (at, actor, actor_kind, action, object, message, tx)
		SELECT now(), 'ada', 'person', 'a.b', 'c', 'before the move', (1000000000 + n)::text::xid8 FROM generate_series(1, 3) n`)
	a.sealAll()
	a.exec(`INSERT INTO audit_events (at, actor, actor_kind, action, object, message, tx)
		VALUES (now(), 'ada', 'person', 'a.b', 'c', 'not sealed before the move', '1000000009')`)
	for i := range 3 {
		a.write(a.pool, fmt.Sprintf("after the move %d", i))
	}
	if _, findings := a.verify(nil); len(findings) > 0 {
		t.Errorf("findings before the first seal: %v", findings)
	}
	a.sealAll()
	a.write(a.pool, "later")
	if head := a.sealAll(); head.Position != 8 {
		t.Errorf("head %v, want all eight events sealed", head)
	}
}
