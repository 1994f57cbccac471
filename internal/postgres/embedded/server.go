package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicehq/sluice/internal/postgres/embedded/binaries"
)

// ErrDatabaseExists means that a database of that name is there already.
var ErrDatabaseExists = errors.New("the database exists already")

// Server is a private PostgreSQL server that runs.
type Server struct {
	at      place
	sockets string
	process *process
	lock    *lock
	once    sync.Once
	stopErr error
}

// Folder is where the server keeps its files: the data folder, or its stand-in.
func (s *Server) Folder() string { return s.at.folder }

// URL is the connection string of a database of this server, for pgx.
func (s *Server) URL(database string) string {
	query := url.Values{"host": {s.sockets}, "port": {"5432"}, "sslmode": {"disable"}}
	address := url.URL{Scheme: "postgres", User: url.User(superuser), Path: "/" + database}
	// pgx, like libpq, does not take a plus for a space.
	address.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	return address.String()
}

// CreateDatabase makes a database, a copy of the template unless that is empty.
// Nobody may be connected to the template meanwhile. ErrDatabaseExists.
func (s *Server) CreateDatabase(ctx context.Context, name, template string) error {
	statement := "CREATE DATABASE " + pgx.Identifier{name}.Sanitize()
	if template != "" {
		statement += " TEMPLATE " + pgx.Identifier{template}.Sanitize()
	}
	err := s.exec(ctx, statement)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "42P04" {
		err = ErrDatabaseExists
	}
	if err != nil {
		return fmt.Errorf("making database %s: %w", name, err)
	}
	return nil
}

func (s *Server) exec(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is lost with it
	_, err = conn.Exec(ctx, statement)
	return err
}

// Stop ends every connection and the server, and gives the data folder back. If
// the context ends first the server is stopped at once, which its next start repairs.
func (s *Server) Stop(ctx context.Context) error {
	s.once.Do(func() {
		s.stopErr = s.process.stop(ctx)
		s.lock.release()
	})
	return s.stopErr
}

// stop asks for a fast shutdown, then for an immediate one.
func (p *process) stop(ctx context.Context) error {
	_ = p.cmd.Process.Signal(syscall.SIGINT)
	select {
	case <-p.done:
		if p.err != nil {
			return fmt.Errorf("the private PostgreSQL did not end well: %w", p.err)
		}
		return nil
	case <-ctx.Done():
	}
	_ = p.cmd.Process.Signal(syscall.SIGQUIT)
	select {
	case <-p.done:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
	return fmt.Errorf("the private PostgreSQL was stopped at once, its next start repairs that: %w", ctx.Err())
}

// leavingTries and leavingPause bound the wait for a server that is just about to
// leave: about ten seconds.
const (
	leavingTries = 50
	leavingPause = 200 * time.Millisecond
)

// run starts the server, again if a server of a parent that died was just about to leave.
func run(ctx context.Context, s *Server, programs binaries.Programs, as *account, opts Options) error {
	for try := 1; ; try++ {
		said := new(tail)
		cmd := exec.Command(programs.Path("postgres"), arguments(s.at, s.sockets, opts.Settings)...)
		cmd.Dir, cmd.Env = s.at.folder, environment()
		cmd.Stderr = io.MultiWriter(said, opts.Log)
		cmd.WaitDelay = 5 * time.Second
		var err error
		if s.process, err = launch(cmd, as); err != nil {
			return fmt.Errorf("running postgres: %w", err)
		}
		if err = s.awaitReady(ctx); err == nil {
			return nil
		}
		_ = s.process.stop(ctx)
		if try == leavingTries || !isLeaving(said.String()) {
			return fmt.Errorf("%w\n%s", err, said)
		}
		select {
		case <-time.After(leavingPause):
		case <-ctx.Done():
			return fmt.Errorf("%w\n%s", ctx.Err(), said)
		}
		if err := settle(ctx, s.at.cluster(), opts.Log); err != nil {
			return err
		}
	}
}

// isLeaving tells from the server's words whether another one has not let go of the cluster.
func isLeaving(said string) bool {
	return strings.Contains(said, `lock file "postmaster.pid" already exists`) ||
		strings.Contains(said, "shared memory block") && strings.Contains(said, "is still in use")
}

func arguments(at place, sockets string, settings []string) []string {
	args := []string{"-D", at.cluster()}
	ours := []string{ // last, so that they hold whatever the settings say
		"listen_addresses=", "port=5432", "unix_socket_directories=" + sockets, "unix_socket_permissions=0700",
		"timezone=UTC", "log_timezone=UTC",
	}
	for _, setting := range slices.Concat(settings, ours) {
		args = append(args, "-c", setting)
	}
	return args
}

// awaitReady returns when the server answers, or has ended.
func (s *Server) awaitReady(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		answer := s.exec(ctx, "SELECT 1")
		if answer == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-s.process.done:
			return fmt.Errorf("postgres ended: %w", s.process.err)
		case <-ctx.Done():
			return fmt.Errorf("postgres does not answer: %w: %w", ctx.Err(), answer)
		}
	}
}
