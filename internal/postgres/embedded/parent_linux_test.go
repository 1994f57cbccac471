package embedded_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Elsewhere the next start stops it, see TestParentKilled.
func TestServerDiesWithItsParent(t *testing.T) {
	t.Parallel()
	data := folder(t)
	killed := parent(t, data)
	orphan := postmaster(t, data)
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait()
	gone(t, orphan)
	if _, err := os.Stat(filepath.Join(data, "cluster", "postmaster.pid")); err == nil {
		t.Error("the server did not shut down in order: its lock file is still there")
	}
}

// gone waits for the end of a process that is not our child.
func gone(t *testing.T, pid int) {
	t.Helper()
	ctx := deadline(t)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for running(pid) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("process %d still runs", pid)
		}
	}
}
