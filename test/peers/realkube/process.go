package realkube

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// process is one running program.
type process struct {
	cmd   *exec.Cmd
	log   string
	ended chan struct{}
}

// run starts a program. What it says is appended to its log file.
func (c *ControlPlane) run(name string, arguments ...string) error {
	log, err := os.OpenFile(c.file(name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	cmd := exec.Command(filepath.Join(c.home, name), arguments...) //nolint:gosec // a program of the tests
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, log, log
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "TMPDIR=" + c.dir}
	cmd.SysProcAttr = attributes()
	p := &process{cmd: cmd, log: log.Name(), ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		defer close(p.ended)
		defer log.Close()      //nolint:errcheck // a log of tests
		runtime.LockOSThread() // the kernel ends the program when the thread that started it ends
		started <- cmd.Start() // and this one lives as long as the program
		_ = cmd.Wait()         //nolint:errcheck // it is killed
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	c.running[name] = p
	return nil
}

// stop kills a program, if it runs.
func (c *ControlPlane) stop(name string) {
	p, runs := c.running[name]
	if !runs {
		return
	}
	delete(c.running, name)
	_ = p.cmd.Process.Kill() //nolint:errcheck // it may have ended by itself
	<-p.ended
}

// Freeze has the API server neither answer nor close connections, as behind a network that drops everything, until Thaw.
func (c *ControlPlane) Freeze() error {
	return c.running["kube-apiserver"].cmd.Process.Signal(syscall.SIGSTOP)
}

// Thaw ends a Freeze.
func (c *ControlPlane) Thaw() error {
	return c.running["kube-apiserver"].cmd.Process.Signal(syscall.SIGCONT)
}

// Logs is the end of what each program said, for a test that has failed.
func (c *ControlPlane) Logs() string {
	const most = 4000
	said := ""
	files, _ := filepath.Glob(c.file("*.log")) //nolint:errcheck // the pattern is good
	for _, name := range files {
		text, err := os.ReadFile(name) //nolint:gosec // a file of the tests
		if err != nil {
			text = []byte(err.Error())
		}
		said += fmt.Sprintf("%s:\n%s\n", filepath.Base(name), text[max(0, len(text)-most):])
	}
	return said
}

// eventually waits until something is so.
func (c *ControlPlane) eventually(ctx context.Context, what string, is func() bool) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		for name, p := range c.running {
			select {
			case <-p.ended:
				return fmt.Errorf("%s has ended while waiting until %s\n%s", name, what, c.Logs())
			default:
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waited in vain until %s\n%s", what, c.Logs())
		}
	}
	return nil
}

func answers(ctx context.Context, client *http.Client, url string) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	answer, err := client.Do(r)
	if err != nil {
		return false
	}
	defer answer.Body.Close() //nolint:errcheck // nothing was written
	return answer.StatusCode == http.StatusOK
}
