package postgrestest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/sluicehq/sluice/internal/postgres/embedded"
)

// startServer runs a server in a temporary folder, fast rather than durable. Every
// user may enter the folder, because root's server runs as another one; the data in
// it is that user's alone.
func startServer(ctx context.Context) (*embedded.Server, error) {
	folder, err := os.MkdirTemp("", "sluice-test-*")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(folder, 0o755); err != nil {
		return nil, err
	}
	server, err := embedded.Start(ctx, embedded.Options{Data: folder, Settings: []string{
		"fsync=off", "synchronous_commit=off", "full_page_writes=off", // nobody will miss the data
		"max_connections=200", "shared_buffers=64MB",
		"autovacuum=off", "max_wal_size=4GB", "wal_level=minimal", "max_wal_senders=0",
	}})
	if err != nil {
		os.RemoveAll(folder) //nolint:errcheck // the start's error is the one to report
		return nil, err
	}
	if err := watch(folder, server.Folder()); err != nil {
		return nil, err
	}
	return server, nil
}

// afterwards waits for the end of its input, stops the server if the kernel has not,
// and removes the folders once it is gone.
const afterwards = `
cat >/dev/null
lock="$2/cluster/postmaster.pid"
kill -INT "$(head -n 1 "$lock" 2>/dev/null)" 2>/dev/null
tries=0
while [ -e "$lock" ] && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
rm -rf "$1" "$2"
`

// watch starts a watcher that cleans up when this process is no more. It learns that
// from the pipe that is its input: the kernel closes our end however we die. It has
// nothing else of ours, since `go test` waits for whoever holds a test's output.
func watch(data, placed string) error {
	input, ours, err := os.Pipe()
	if err != nil {
		return err
	}
	defer input.Close() //nolint:errcheck // the watcher has its own
	watcher := exec.Command("/bin/sh", "-c", afterwards, "sluice-test-watcher", data, placed)
	watcher.Dir = "/"
	watcher.Stdin = input
	watcher.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // an interrupt from the terminal is not for it
	if err := watcher.Start(); err != nil {
		return fmt.Errorf("starting the watcher of the tests' PostgreSQL: %w", err)
	}
	shared.alive = ours
	return nil
}
