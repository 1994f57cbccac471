package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// settle waits until no server of a parent that died uses the cluster. We hold the data
// folder's lock, so such a server belongs to nobody: it is told to stop, in case
// the kernel has not done so.
func settle(ctx context.Context, cluster string, log io.Writer) error {
	pid, err := postmaster(cluster)
	if err != nil || pid == 0 {
		return err
	}
	if !servesFrom(pid, cluster) {
		return forget(cluster, pid)
	}
	fmt.Fprintf(log, "waiting for an earlier server (process %d) on %s to end\n", pid, cluster)
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stopping an earlier server (process %d): %w", pid, err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for servesFrom(pid, cluster) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("an earlier server (process %d) still runs on %s: %w", pid, cluster, ctx.Err())
		}
	}
	return nil
}

// postmaster is the process that the cluster's lock file names, 0 if it names none.
func postmaster(cluster string) (int, error) {
	content, err := os.ReadFile(filepath.Join(cluster, "postmaster.pid"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(content), "\n")
	pid, _ := strconv.Atoi(strings.TrimSpace(line)) // 0 while the file is being written
	return max(pid, 0), nil
}

// servesFrom tells whether a process is the server of a cluster: we start one with
// the cluster's path on its command line.
func servesFrom(pid int, cluster string) bool {
	line, err := commandLine(pid)
	return err == nil && isServer(line) && strings.Contains(line, cluster)
}

func isServer(commandLine string) bool {
	program, _, _ := strings.Cut(commandLine, " ")
	name := filepath.Base(program)
	return strings.HasPrefix(name, "postgres") || strings.HasPrefix(name, "postmaster")
}

// forget removes the lock file of a server that is gone if a program of another
// kind has its number by now: PostgreSQL would take that one for the server and
// refuse to start. In every other case PostgreSQL itself knows best what to do.
func forget(cluster string, pid int) error {
	line, err := commandLine(pid)
	taken := err == nil && !isServer(line) && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	if !taken {
		return nil
	}
	return os.Remove(filepath.Join(cluster, "postmaster.pid"))
}
