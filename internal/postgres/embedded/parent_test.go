package embedded_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sluicehq/sluice/internal/postgres/embedded"
)

const parentOf = "SLUICE_TEST_PARENT_OF"

// TestMain lets this program be run again as the parent of a server, to be killed.
func TestMain(m *testing.M) {
	if data := os.Getenv(parentOf); data != "" {
		beParent(data)
	}
	os.Exit(m.Run())
}

// beParent starts a server, says so, and waits to be killed.
func beParent(data string) {
	server, err := embedded.Start(context.Background(), embedded.Options{Data: data, Settings: quick()})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_ = server.CreateDatabase(context.Background(), "kept", "")
	fmt.Println("started")
	select {}
}

// parent runs this program as the parent of a server, and returns when that answers.
func parent(t *testing.T, data string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), parentOf+"="+data)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	said := bufio.NewScanner(out)
	said.Scan()
	if said.Text() != "started" {
		t.Fatalf("the parent says %q", said.Text())
	}
	return cmd
}

// running does not count a process that has ended and was not waited for.
func running(pid int) bool {
	state, err := exec.Command("ps", "-o", "stat=", "-p", fmt.Sprint(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(state)), "Z")
}

func TestParentKilled(t *testing.T) {
	t.Parallel()
	data := folder(t)
	killed := parent(t, data)
	orphan := postmaster(t, data)
	if _, err := embedded.Start(deadline(t), embedded.Options{Data: data}); !errors.As(err, new(*embedded.InUseError)) {
		t.Fatalf("a start beside another process: %v, want InUseError", err)
	}

	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait()
	// At once: the server may be anywhere between running and gone.
	server := start(t, embedded.Options{Data: data, Settings: quick()})
	if running(orphan) {
		t.Errorf("the killed parent's server (process %d) still runs", orphan)
	}
	if err := server.CreateDatabase(deadline(t), "kept", ""); !errors.Is(err, embedded.ErrDatabaseExists) {
		t.Errorf("the data was not kept: %v", err)
	}
}

func TestEverythingKilled(t *testing.T) {
	t.Parallel()
	data := folder(t)
	killed := parent(t, data)
	orphan := postmaster(t, data)
	if err := errors.Join(syscall.Kill(orphan, syscall.SIGKILL), killed.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait()
	server := start(t, embedded.Options{Data: data, Settings: quick()})
	if err := server.CreateDatabase(deadline(t), "kept", ""); !errors.Is(err, embedded.ErrDatabaseExists) {
		t.Errorf("the data was not kept: %v", err)
	}
}

// TestNumberTaken: after a crash, a program of another kind may have the server's number.
func TestNumberTaken(t *testing.T) {
	t.Parallel()
	data := folder(t)
	server, err := embedded.Start(deadline(t), embedded.Options{Data: data, Settings: quick()})
	if err != nil {
		t.Fatal(err)
	}
	lockFile := filepath.Join(data, "cluster", "postmaster.pid")
	content, err := os.ReadFile(lockFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Stop(deadline(t)); err != nil {
		t.Fatal(err)
	}
	taken := exec.Command("sleep", "60")
	if os.Geteuid() == 0 {
		if info, err := os.Stat(filepath.Join(data, "cluster")); err == nil {
			owner := info.Sys().(*syscall.Stat_t)
			taken.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
			taken.Dir = "/"
		}
	}
	if err := taken.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Process.Kill(); _ = taken.Wait() })
	_, rest, _ := strings.Cut(string(content), "\n")
	if err := os.WriteFile(lockFile, fmt.Appendf(nil, "%d\n%s", taken.Process.Pid, rest), 0o644); err != nil {
		t.Fatal(err)
	}
	start(t, embedded.Options{Data: data, Settings: quick()})
	if !running(taken.Process.Pid) {
		t.Error("the program that has the number was stopped")
	}
}
