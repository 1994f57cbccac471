package embedded

import (
	"os/exec"
	"runtime"
)

// process is a program that runs until it ends or we do.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // how it ended; read it after done
}

// launch starts a program as the account, in a process group of its own: an
// interrupt from the terminal is for us, and we stop the program in turn.
func launch(cmd *exec.Cmd, as *account) (*process, error) {
	cmd.SysProcAttr = attributes(as)
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// Linux takes the end of the thread that started a program for the end of
		// its parent, so this goroutine keeps its thread until the program ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.done)
		}
	}()
	return p, <-started
}
