package scenario_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	watched "github.com/sluicehq/sluice/internal/cluster"
	"github.com/sluicehq/sluice/internal/promotion"
)

// What BenchmarkFollow plays.
const (
	followed   = 5000 // Applications
	inClusters = 3
	perSecond  = 200 // changes
	followTime = time.Minute
	missed     = 1000 // changes while nobody watches
)

// BenchmarkFollow watches clusters that change all the time, from the informers to the database: no change is lost, each is written
// once and nothing else is, and memory stays what it was.
func BenchmarkFollow(b *testing.B) {
	for b.Loop() {
		f := newFollowing(b)
		f.starts()
		f.reaches(followed, 5*time.Minute)
		b.ReportMetric(time.Since(f.since).Seconds(), "s-first-look")
		before := heap()
		f.changes()
		f.reaches(followed+f.number, time.Minute)
		f.tells("p50", 50)
		f.tells("p99", 99)
		after := heap()
		b.ReportMetric(before, "MB-heap-before")
		b.ReportMetric(after, "MB-heap-after")
		if after > 1.25*before {
			b.Errorf("memory grew from %.0f to %.0f MB", before, after)
		}
		f.isTrue(followed + f.number)

		f.stops()
		for range missed {
			f.change()
		}
		f.starts()
		f.reaches(followed, 5*time.Minute) // each is told of anew, what has changed meanwhile among them
		b.ReportMetric(time.Since(f.since).Seconds(), "s-catch-up")
		f.isTrue(followed + f.number)
		f.stops()
	}
}

// following is a Sluice that watches sources.
type following struct {
	*world
	sources []*source
	number  int // of changes made
	stops   func()
	since   time.Time // the last start

	mu    sync.Mutex
	told  int
	times []time.Duration // from the change until it was recorded
}

func newFollowing(b *testing.B) *following {
	f := &following{world: newWorldOf(b, func(map[string][]byte) {})}
	f.has(followed)
	for range inClusters {
		f.sources = append(f.sources, newSource(f.host.CloneURL(repository)))
	}
	for i := range followed {
		f.sources[i%inClusters].fill(named(i))
	}
	return f
}

func named(i int) string { return fmt.Sprintf("app-%04d", i) }

// has gives the config repository so many applications more, as a look at main would have found them.
func (f *following) has(n int) {
	f.Helper()
	tx, err := f.pool.Begin(f.Context())
	f.must(err)
	_, err = tx.Exec(f.Context(), "SET LOCAL session_replication_role = replica") // or each would have to be audited
	f.must(err)
	_, err = tx.Exec(f.Context(), `
WITH a AS (INSERT INTO applications (config_repository_id, name, found_at)
           SELECT c.id, 'app-' || lpad(i::text, 4, '0'), now() FROM config_repositories c, generate_series(0, $1::integer - 1) i RETURNING id, name),
     t AS (INSERT INTO targets (application_id, environment, rank, path, layout, found_at)
           SELECT id, 'prod', 3, 'apps/' || name || '/overlays/prod', 'kustomize', now() FROM a RETURNING id)
INSERT INTO target_revisions (target_id, commit, author, message, committed_at, rendered_hash, images)
SELECT id, '0123456789012345678901234567890123456789', 'rita', 'first', now(), 'hash', '[]' FROM t`, n)
	f.must(err)
	f.must(tx.Commit(f.Context()))
	_, err = f.pool.Exec(f.Context(), "ANALYZE")
	f.must(err)
}

// starts has every source watched as the server does it.
func (f *following) starts() {
	ctx, cancel := context.WithCancel(f.Context())
	var running sync.WaitGroup
	f.since, f.told = time.Now(), 0
	for i, s := range f.sources {
		c := watched.New(watched.Options{Name: fmt.Sprintf("cluster-%d", i), Client: s, Now: time.Now, Log: slog.New(slog.DiscardHandler),
			Observe: func(ctx context.Context, o promotion.Observation) error { return f.observes(ctx, s, o) }})
		running.Go(func() {
			if err := c.Run(ctx); err != nil {
				f.Error(err)
			}
		})
	}
	f.stops = func() { cancel(); running.Wait() }
}

func (f *following) observes(ctx context.Context, s *source, o promotion.Observation) error {
	err := f.service.Observed(ctx, o)
	if err != nil && ctx.Err() == nil {
		f.Errorf("not recorded: %v", err)
	}
	if err != nil {
		return err
	}
	var number int
	if _, err := fmt.Sscanf(o.Message, "Argo CD says that the Application is degraded: change %d.", &number); err != nil {
		f.Errorf("recorded %q", o.Message)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told++
	if number > 0 {
		f.times = append(f.times, s.since(number))
	}
	return nil
}

// change alters the next Application.
func (f *following) change() {
	f.number++
	i := f.number % followed
	f.sources[i%inClusters].change(named(i), f.number)
}

func (f *following) changes() {
	tick := time.NewTicker(time.Second / perSecond)
	defer tick.Stop()
	for range int(followTime.Seconds()) * perSecond {
		<-tick.C
		f.change()
	}
}

// reaches waits until so much was recorded since the last start.
func (f *following) reaches(n int, within time.Duration) {
	f.Helper()
	end := time.After(within)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		f.mu.Lock()
		told := f.told
		f.mu.Unlock()
		if told >= n {
			return
		}
		select {
		case <-end:
			f.Fatalf("%d observations were recorded within %s, want %d", told, within, n)
		case <-tick.C:
		}
	}
}

// isTrue compares what is in the database with what the sources did: each change is there once, and the last of each counts.
func (f *following) isTrue(writes int) {
	f.Helper()
	var rows, distinct, current, linked int
	f.must(f.pool.QueryRow(f.Context(), `SELECT count(*), count(DISTINCT (deployment_id, message)), count(*) FILTER (WHERE replaced_at IS NULL), count(target_id)
		FROM deployment_observations`).Scan(&rows, &distinct, &current, &linked))
	if rows != writes || distinct != writes || current != followed || linked != writes {
		f.Fatalf("%d rows, %d different, %d current, %d with a target; want %d, and %d current", rows, distinct, current, linked, writes, followed)
	}
	for i := max(1, f.number-followed+1); i <= f.number; i++ {
		var message string
		f.must(f.pool.QueryRow(f.Context(), "SELECT message FROM deployments WHERE name = $1", named(i%followed)).Scan(&message))
		f.contains("the last state of "+named(i%followed), message, fmt.Sprintf("change %d.", i))
	}
}

// tells reports how long the changes of the last start took from event to database.
func (f *following) tells(name string, percent int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.Sort(f.times)
	f.TB.(*testing.B).ReportMetric(float64(f.times[len(f.times)*percent/100].Microseconds())/1000, "ms-event-to-SQL-"+name)
}

// heap is what is in use, in MB.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}
