// Package postgrestest gives each test a PostgreSQL database of its own: a copy of
// a migrated template, on a private server that all tests of one process share.
//
// The server starts with the first database asked for. It lasts until the test
// process ends, in whatever way: then a watcher stops it and removes its files. So
// a test package needs no TestMain for it.
package postgrestest

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/postgres/embedded"
)

// patience bounds each step: a cold, busy machine needs some of it, a hung one all.
const patience = 2 * time.Minute

// shared is what the tests of a process have in common. A test helper has nowhere
// else to keep it.
var shared struct {
	start  sync.Once
	server *embedded.Server
	err    error
	alive  *os.File // open for as long as this process lives, see watch

	mu        sync.Mutex
	templates map[uintptr]*template
	databases int
}

// template is a database that was migrated once, to be copied.
type template struct {
	once sync.Once
	name string
	err  error
}

// NewDatabase makes a database for one test and returns its connection string. It is
// dropped when the test ends, whoever is still connected to it.
//
// migrate is run once per process on a database that is then copied; nil gives an empty
// one. Each function has a template of its own. Functions made by one function literal
// count as the same: migrate must not depend on what it captures.
func NewDatabase(t testing.TB, migrate func(ctx context.Context, url string) error) (url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()

	server, err := startOnce(ctx)
	if err != nil {
		t.Fatal(err)
	}
	source, err := templateOf(ctx, server, migrate)
	if err != nil {
		t.Fatal(err)
	}
	name := newName("test")
	if err := server.CreateDatabase(ctx, name, source); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := execute(ctx, server, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("dropping the test's database: %v", err)
		}
	})
	return server.URL(name)
}

func startOnce(ctx context.Context) (*embedded.Server, error) {
	shared.start.Do(func() { shared.server, shared.err = startServer(ctx) })
	return shared.server, shared.err
}

// templateOf is the name of the database that migrate was run on, empty for none.
func templateOf(ctx context.Context, server *embedded.Server, migrate func(context.Context, string) error) (string, error) {
	if migrate == nil {
		return "", nil
	}
	made := templateFor(reflect.ValueOf(migrate).Pointer())
	made.once.Do(func() {
		made.name = newName("template")
		made.err = prepare(ctx, server, made.name, migrate)
	})
	return made.name, made.err
}

func templateFor(function uintptr) *template {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.templates == nil {
		shared.templates = map[uintptr]*template{}
	}
	if shared.templates[function] == nil {
		shared.templates[function] = &template{}
	}
	return shared.templates[function]
}

// prepare makes a template. Whoever is still connected to it is thrown out, since
// a database that is in use cannot be copied.
func prepare(ctx context.Context, server *embedded.Server, name string, migrate func(context.Context, string) error) error {
	if err := server.CreateDatabase(ctx, name, ""); err != nil {
		return err
	}
	if err := migrate(ctx, server.URL(name)); err != nil {
		return fmt.Errorf("migrating the template of the tests' databases: %w", err)
	}
	if err := execute(ctx, server, "ALTER DATABASE "+name+" WITH ALLOW_CONNECTIONS false IS_TEMPLATE true"); err != nil {
		return err
	}
	return execute(ctx, server, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '"+name+"'")
}

// newName is a name that needs no quoting.
func newName(kind string) string {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.databases++
	return fmt.Sprintf("%s_%d", kind, shared.databases)
}

func execute(ctx context.Context, server *embedded.Server, statement string) error {
	conn, err := pgx.Connect(ctx, server.URL("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is lost with it
	_, err = conn.Exec(ctx, statement)
	return err
}
