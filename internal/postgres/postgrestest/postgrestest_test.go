package postgrestest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/postgres/postgrestest"
)

const reportTo = "SLUICE_TEST_REPORT_TO"

// TestMain is here for the test below only: the helper itself needs none.
func TestMain(m *testing.M) {
	if path := os.Getenv(reportTo); path != "" {
		useAndReport(path)
	}
	os.Exit(m.Run())
}

var migrations atomic.Int32

// schema migrates, and forgets to disconnect.
func schema(ctx context.Context, url string) error {
	migrations.Add(1)
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "CREATE TABLE builds (id int PRIMARY KEY); INSERT INTO builds VALUES (0)")
	return err
}

func otherSchema(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "CREATE TABLE releases (id int PRIMARY KEY)")
	return errors.Join(err, conn.Close(ctx))
}

func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func count(t testing.TB, conn *pgx.Conn, table string) int {
	t.Helper()
	var n int
	if err := conn.QueryRow(context.Background(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestEachTestHasItsOwn(t *testing.T) {
	t.Parallel()
	t.Run("together", func(t *testing.T) {
		for i := range 8 {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				conn := connect(t, postgrestest.NewDatabase(t, schema)) // left open: it is dropped all the same
				if _, err := conn.Exec(context.Background(), "INSERT INTO builds VALUES (1)"); err != nil {
					t.Fatal(err)
				}
				if n := count(t, conn, "builds"); n != 2 {
					t.Errorf("%d rows, want the template's and this test's own", n)
				}
			})
		}
	})
	if n := migrations.Load(); n != 1 {
		t.Errorf("migrated %d times, want once", n)
	}
}

func TestEachMigrationHasItsTemplate(t *testing.T) {
	t.Parallel()
	if n := count(t, connect(t, postgrestest.NewDatabase(t, otherSchema)), "releases"); n != 0 {
		t.Errorf("%d rows", n)
	}
	if n := count(t, connect(t, postgrestest.NewDatabase(t, nil)), "pg_tables WHERE schemaname = 'public'"); n != 0 {
		t.Errorf("%d tables in an empty database", n)
	}
}

func TestDroppedAfterwards(t *testing.T) {
	t.Parallel()
	var url string
	t.Run("inner", func(t *testing.T) { url = postgrestest.NewDatabase(t, nil) })
	if conn, err := pgx.Connect(context.Background(), url); err == nil {
		t.Error("the database is still there", conn.Close(context.Background()))
	}
}

// failing stands for a test that must fail: it ends the goroutine, as testing does.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Fatal(args ...any) { f.said = fmt.Sprint(args...); panic(f) }

func TestFailedMigration(t *testing.T) {
	t.Parallel()
	for range 2 { // the second test hears of it, too
		f := &failing{TB: t}
		func() {
			defer func() { _ = recover() }()
			postgrestest.NewDatabase(f, func(context.Context, string) error { return errors.New("no such column") })
		}()
		if !strings.Contains(f.said, "no such column") {
			t.Errorf("the test fails with %q", f.said)
		}
	}
}

// useAndReport is a test process that asks for a database and dies without a word.
func useAndReport(path string) {
	var folder string
	testing.Init()
	tb := &failing{TB: &testing.T{}}
	url := postgrestest.NewDatabase(tb, nil)
	conn, err := pgx.Connect(context.Background(), url)
	if err == nil {
		err = conn.QueryRow(context.Background(), "SHOW data_directory").Scan(&folder)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_ = os.WriteFile(path, []byte(filepath.Dir(folder)), 0o600)
	select {}
}

// TestNothingIsLeft kills a test process and waits for its server and files to go.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	report := filepath.Join(t.TempDir(), "report")
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), reportTo+"="+report)
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = process.Process.Kill(); _ = process.Wait() })

	var folder string
	until(t, "the process has no database", func() bool {
		content, err := os.ReadFile(report)
		folder = string(content)
		return err == nil && folder != ""
	})
	lock, err := os.ReadFile(filepath.Join(folder, "cluster", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	server, _, _ := strings.Cut(string(lock), "\n")
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait()
	until(t, "the files are still there", func() bool {
		_, err := os.Stat(folder)
		return errors.Is(err, os.ErrNotExist)
	})
	until(t, "the server still runs", func() bool {
		state, err := exec.Command("ps", "-o", "stat=", "-p", server).Output()
		return err != nil || strings.HasPrefix(string(state), "Z")
	})
}

func until(t *testing.T, otherwise string, done func() bool) {
	t.Helper()
	deadline, tick := time.NewTimer(time.Minute), time.NewTicker(20*time.Millisecond)
	defer deadline.Stop()
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatal(otherwise)
		}
	}
}
