package telemetry_test

import (
	"bytes"
	"context"
	"flag"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sluicehq/sluice/internal/postgres"
	"github.com/sluicehq/sluice/internal/postgres/postgrestest"
	"github.com/sluicehq/sluice/internal/telemetry"
	"github.com/sluicehq/sluice/migrations"
)

var update = flag.Bool("update", false, "write testdata anew")

func noon() time.Time { return time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) }

func migrate(ctx context.Context, url string) error {
	return postgres.Migrate(ctx, url, migrations.Files)
}

func connect(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// seeded is a database with a small state in which everything occurs that is counted, and what looks like it and is not.
func seeded(t testing.TB) *pgxpool.Pool {
	t.Helper()
	pool := connect(t, postgrestest.NewDatabase(t, migrate))
	state, err := os.ReadFile("testdata/state.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(context.Background(), string(state)); err != nil {
		t.Fatal(err)
	}
	return pool
}

// scrape answers with the lines about Sluice: those about Go and the process are different each time.
func scrape(t testing.TB, m http.Handler) string {
	t.Helper()
	answer := httptest.NewRecorder()
	m.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if answer.Code != http.StatusOK {
		t.Fatalf("status %d: %s", answer.Code, answer.Body)
	}
	all := strings.SplitAfter(answer.Body.String(), "\n")
	return strings.Join(slices.DeleteFunc(all, func(line string) bool { return !strings.Contains(line, "sluice_") }), "")
}

func TestExposition(t *testing.T) {
	t.Parallel()
	m := telemetry.New(postgres.NewStore(seeded(t), nil), noon, slog.New(slog.DiscardHandler))
	got := scrape(t, m)
	const golden = "testdata/exposition.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("other metrics (-want +got):\n%s", diff)
	}
}

func TestEmptyDatabase(t *testing.T) {
	t.Parallel()
	pool := connect(t, postgrestest.NewDatabase(t, migrate))
	got := scrape(t, telemetry.New(postgres.NewStore(pool, nil), noon, slog.New(slog.DiscardHandler)))
	for _, line := range []string{"sluice_store_up 1\n", "sluice_violations_open 0\n", "sluice_audit_events_unsealed 0\n", "sluice_audit_oldest_unsealed_seconds 0\n"} {
		if !strings.Contains(got, "\n"+line) {
			t.Errorf("no %q in\n%s", line, got)
		}
	}
}

// logged is a log that tests read while it is written.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) count(s string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), s)
}

// silent is a database server that takes connections and says nothing.
func silent(t *testing.T) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var accepted []net.Conn
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			accepted = append(accepted, conn)
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
		for _, conn := range accepted {
			_ = conn.Close()
		}
	})
	return "postgres://sluice@" + listener.Addr().String() + "/sluice?sslmode=disable"
}

func TestStoreThatSaysNothing(t *testing.T) {
	t.Parallel()
	var log logged
	m := telemetry.New(postgres.NewStore(connect(t, silent(t)), nil), noon, slog.New(slog.NewTextHandler(&log, nil)))
	start := time.Now()
	got := scrape(t, m)
	if took := time.Since(start); took > 9*time.Second {
		t.Errorf("answered after %s, when Prometheus has given up", took)
	}
	if !strings.Contains(got, "\nsluice_store_up 0\n") || strings.Contains(got, "sluice_violations_open") {
		t.Errorf("it says more than that the store is away:\n%s", got)
	}
}

func TestStoreAwayAndBack(t *testing.T) {
	t.Parallel()
	pool := seeded(t)
	var log logged
	m := telemetry.New(postgres.NewStore(pool, nil), noon, slog.New(slog.NewTextHandler(&log, nil)))
	rename := func(from, to string) {
		t.Helper()
		if _, err := pool.Exec(context.Background(), "ALTER TABLE "+from+" RENAME TO "+to); err != nil {
			t.Fatal(err)
		}
	}
	whole := scrape(t, m)
	rename("river_job", "elsewhere")
	for range 2 {
		got := scrape(t, m)
		if !strings.Contains(got, "\nsluice_store_up 0\n") || strings.Contains(got, "sluice_jobs") {
			t.Errorf("jobs are told without being read:\n%s", got)
		}
		if !strings.Contains(got, "\nsluice_violations_open 1\n") {
			t.Errorf("one failed question takes the others with it:\n%s", got)
		}
	}
	if n := log.count("level=ERROR"); n != 1 {
		t.Errorf("logged %d times, want once:\n%s", n, log.text.String())
	}
	rename("elsewhere", "river_job")
	if diff := cmp.Diff(whole, scrape(t, m)); diff != "" {
		t.Errorf("not the same when the store is back:\n%s", diff)
	}
	if n := log.count("level=INFO"); n != 1 {
		t.Errorf("its return is logged %d times, want once", n)
	}
}
