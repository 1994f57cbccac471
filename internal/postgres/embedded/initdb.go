package embedded

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/sluicehq/sluice/internal/postgres/embedded/binaries"
)

// superuser is the role that every connection uses.
const superuser = "sluice"

// initialise makes the cluster if there is none. It is made under another name
// and then renamed, so that an interrupted one is never taken for whole.
func initialise(ctx context.Context, at place, programs binaries.Programs, as *account, settings []string) error {
	if _, err := os.Stat(at.cluster()); err == nil {
		return at.remember()
	}
	unfinished := filepath.Join(at.folder, "unfinished")
	if err := os.RemoveAll(unfinished); err != nil {
		return fmt.Errorf("removing what an interrupted start left: %w", err)
	}
	if err := as.own(unfinished); err != nil {
		return err
	}
	args := []string{
		"--pgdata=" + unfinished, "--username=" + superuser, "--auth=trust",
		"--encoding=UTF8", "--locale=C", "--no-instructions",
	}
	if slices.Contains(settings, "fsync=off") {
		args = append(args, "--no-sync")
	}
	said := new(tail)
	cmd := exec.CommandContext(ctx, programs.Path("initdb"), args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = at.folder, environment(), said, said
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 5 * time.Second
	running, err := launch(cmd, as)
	if err != nil {
		return fmt.Errorf("running initdb: %w", err)
	}
	<-running.done
	if ctx.Err() != nil {
		return fmt.Errorf("running initdb: %w", ctx.Err())
	}
	if running.err != nil {
		return fmt.Errorf("running initdb: %w\n%s", running.err, said)
	}
	if err := os.Rename(unfinished, at.cluster()); err != nil {
		return err
	}
	return at.remember()
}

// environment keeps what PG* variables, the locale and the time zone say away from the server.
func environment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
}
