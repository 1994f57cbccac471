package embedded_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/postgres/embedded"
)

// quick are the settings of a server whose data nobody will miss.
func quick() []string {
	return []string{"fsync=off", "synchronous_commit=off", "full_page_writes=off", "shared_buffers=16MB"}
}

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func start(t *testing.T, opts embedded.Options) *embedded.Server {
	t.Helper()
	server, err := embedded.Start(deadline(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(deadline(t)); err != nil {
			t.Error(err)
		}
	})
	return server
}

// folder is a temporary one that every user may enter, unlike t.TempDir: as root,
// the server runs as another user.
func folder(t *testing.T) string {
	t.Helper()
	made, err := os.MkdirTemp("", "sluice-embedded-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(made); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(made, 0o755); err != nil {
		t.Fatal(err)
	}
	return made
}

// ask runs a statement that returns one value.
func ask(t *testing.T, address, statement string) string {
	t.Helper()
	ctx := deadline(t)
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var value any
	if err := conn.QueryRow(ctx, statement).Scan(&value); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return fmt.Sprint(value)
}

// postmaster is the process number in a cluster's lock file.
func postmaster(t *testing.T, folder string) int {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, "cluster", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.SplitN(string(content), "\n", 2)[0])
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestRestartKeepsData(t *testing.T) {
	t.Parallel()
	data := filepath.Join(folder(t), "made", "on first use")
	first, err := embedded.Start(deadline(t), embedded.Options{Data: data, Settings: quick()})
	if err != nil {
		t.Fatal(err)
	}
	if err := first.CreateDatabase(deadline(t), "shop's", ""); err != nil {
		t.Fatal(err)
	}
	if err := first.CreateDatabase(deadline(t), "shop's", ""); !errors.Is(err, embedded.ErrDatabaseExists) {
		t.Errorf("making it twice: %v, want ErrDatabaseExists", err)
	}
	ask(t, first.URL("shop's"), "WITH a AS (SELECT 1) SELECT set_config('a.b', 'c', false)")
	ask(t, first.URL("shop's"), "SELECT pg_catalog.lo_from_bytea(42, 'kept')")
	if err := first.Stop(deadline(t)); err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(deadline(t)); err != nil {
		t.Errorf("stopping twice: %v", err)
	}

	second := start(t, embedded.Options{Data: data, Settings: quick()})
	if got := ask(t, second.URL("shop's"), "SELECT convert_from(lo_get(42), 'UTF8')"); got != "kept" {
		t.Errorf("after a restart the database holds %q, want %q", got, "kept")
	}
	if err := second.CreateDatabase(deadline(t), "copy", "shop's"); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, second.URL("copy"), "SELECT convert_from(lo_get(42), 'UTF8')"); got != "kept" {
		t.Errorf("the copy holds %q, want %q", got, "kept")
	}
}

func TestIsPrivateAndDurable(t *testing.T) {
	t.Parallel()
	server := start(t, embedded.Options{Data: folder(t), Settings: []string{"shared_buffers=16MB", "listen_addresses=*"}})
	for setting, want := range map[string]string{
		"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", // durable unless told otherwise
		"listen_addresses": "", "unix_socket_permissions": "0700", // whatever the settings say
		"shared_buffers": "16MB", "TimeZone": "UTC", "server_encoding": "UTF8",
	} {
		if got := ask(t, server.URL("postgres"), "SHOW "+setting); got != want {
			t.Errorf("%s is %q, want %q", setting, got, want)
		}
	}
	for _, folder := range []string{"cluster", "run"} {
		info, err := os.Stat(filepath.Join(server.Folder(), folder))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o700 {
			t.Errorf("others may enter %s: %v", folder, info.Mode())
		}
	}
}

func TestOddPath(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"long": strings.Repeat("long/", 30), "odd": `a+b, "c" 'd'%20e?f`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, embedded.Options{Data: filepath.Join(folder(t), path), Settings: quick()})
			sockets := ask(t, server.URL("postgres"), "SHOW unix_socket_directories")
			t.Cleanup(func() {
				if !strings.HasPrefix(sockets, server.Folder()) {
					_ = os.RemoveAll(sockets)
				}
			})
			if path := filepath.Join(sockets, ".s.PGSQL.5432"); len(path) > 103 {
				t.Errorf("the socket's path has %d bytes", len(path))
			}
		})
	}
}

func TestOneServerAtATime(t *testing.T) {
	t.Parallel()
	data := folder(t)
	start(t, embedded.Options{Data: data, Settings: quick()})
	_, err := embedded.Start(deadline(t), embedded.Options{Data: data})
	var inUse *embedded.InUseError
	if !errors.As(err, &inUse) {
		t.Fatalf("a second start: %v, want InUseError", err)
	}
	for _, want := range []string{fmt.Sprintf("process %d since ", os.Getpid()), data} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %q", err, want)
		}
	}
}

// TestOutOfReach puts the data where root's server user cannot go, as below /root.
func TestOutOfReach(t *testing.T) {
	t.Parallel()
	closed := filepath.Join(folder(t), "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(closed, "data")
	var log lines
	first, err := embedded.Start(deadline(t), embedded.Options{Data: data, Settings: quick(), Log: &log})
	if err != nil {
		t.Fatal(err)
	}
	placed := first.Folder()
	if err := first.CreateDatabase(deadline(t), "kept", ""); err != nil {
		t.Error(err)
	}
	if err := first.Stop(deadline(t)); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		if placed != data {
			t.Errorf("the cluster is at %s, want %s: only root's server runs as another user", placed, data)
		}
		return
	}
	t.Cleanup(func() { _ = os.RemoveAll(placed) })
	if want := "cannot reach " + data + ": the database is placed at " + placed; !strings.Contains(log.String(), want) {
		t.Errorf("the log does not say %q:\n%s", want, log.String())
	}
	again := start(t, embedded.Options{Data: data, Settings: quick()})
	if again.Folder() != placed {
		t.Errorf("placed at %s, then at %s", placed, again.Folder())
	}
	if err := again.CreateDatabase(deadline(t), "kept", ""); !errors.Is(err, embedded.ErrDatabaseExists) {
		t.Errorf("the data was not kept: %v", err)
	}
	if err := again.Stop(deadline(t)); err != nil {
		t.Fatal(err)
	}
	lost(t, data, placed)
}

// lost: a cluster that is gone is not silently replaced by an empty one, and a
// data folder that was removed takes its cluster with it.
func lost(t *testing.T, data, placed string) {
	t.Helper()
	if err := os.Rename(placed, placed+".gone"); err != nil {
		t.Fatal(err)
	}
	_, err := embedded.Start(deadline(t), embedded.Options{Data: data, Settings: quick()})
	if err == nil || !strings.Contains(err.Error(), placed+" and is not there any more") {
		t.Errorf("starting without the cluster: %v", err)
	}
	if err := os.Rename(placed+".gone", placed); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	anew := start(t, embedded.Options{Data: data, Settings: quick()})
	if err := anew.CreateDatabase(deadline(t), "kept", ""); err != nil {
		t.Errorf("a removed data folder's cluster is still there: %v", err)
	}
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	other := folder(t)
	if err := os.MkdirAll(filepath.Join(other, "cluster"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "cluster", "PG_VERSION"), []byte("9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	expired, cancel := context.WithCancel(context.Background())
	cancel()
	for name, test := range map[string]struct {
		ctx  context.Context
		opts embedded.Options
		want string
	}{
		"no data folder":  {deadline(t), embedded.Options{}, "no data folder given"},
		"not a server":    {deadline(t), embedded.Options{Data: folder(t), Binaries: folder(t)}, "looking for PostgreSQL in"},
		"other version":   {deadline(t), embedded.Options{Data: other}, "version 9 is needed to read the existing data"},
		"unknown setting": {deadline(t), embedded.Options{Data: folder(t), Settings: []string{"no_such=1"}}, `unrecognized configuration parameter "no_such"`},
		"context ended":   {expired, embedded.Options{Data: folder(t), Settings: quick()}, "context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, err := embedded.Start(test.ctx, test.opts)
			if err == nil {
				t.Fatal("started", server.Stop(context.Background()))
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%q does not say %q", err, test.want)
			}
			if test.opts.Data == "" {
				return
			}
			if _, err := embedded.Start(expired, embedded.Options{Data: test.opts.Data}); errors.As(err, new(*embedded.InUseError)) {
				t.Errorf("a failed start keeps its data folder: %v", err)
			}
		})
	}
}

// lines is a log that may be written while it is read.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
