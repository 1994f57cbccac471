package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// InUseError says that a data folder belongs to a server that runs, and whose it is.
type InUseError struct {
	Data   string
	Holder string // "process 123 since 2026-01-02T15:04:05Z"
}

func (e *InUseError) Error() string {
	return fmt.Sprintf("the data folder %s is in use by %s: stop it, or choose another folder", e.Data, e.Holder)
}

// lock is held for as long as a server may use the data folder. The kernel gives it back when
// its holder dies, so it cannot be stale.
type lock struct{ file *os.File }

// settling is how long the kernel may take to give back the lock of a process that was killed: files
// of an exiting process are closed a little after it has been waited for.
const settling = 500 * time.Millisecond

// acquire takes a data folder's lock, or fails with InUseError when it stays taken.
func acquire(ctx context.Context, data string) (*lock, error) {
	ctx, cancel := context.WithTimeout(ctx, settling)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		l, err := tryAcquire(data)
		var inUse *InUseError
		if !errors.As(err, &inUse) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-again.C:
		}
	}
}

func tryAcquire(data string) (*lock, error) {
	file, err := os.OpenFile(filepath.Join(data, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		defer file.Close() //nolint:errcheck // only read
		holder, readErr := io.ReadAll(io.LimitReader(file, 200))
		if readErr != nil || len(holder) == 0 {
			holder = []byte("another process")
		}
		return nil, &InUseError{Data: data, Holder: string(holder)}
	}
	if err == nil {
		err = file.Truncate(0)
	}
	if err == nil {
		_, err = fmt.Fprintf(file, "process %d since %s", os.Getpid(), time.Now().UTC().Format(time.RFC3339))
	}
	if err != nil {
		file.Close() //nolint:errcheck // the lock's error is the one to report
		return nil, fmt.Errorf("locking the data folder: %w", err)
	}
	return &lock{file}, nil
}

// release unlocks before it closes: a process that is being started at this moment still holds a copy of the
// file, with which the lock would live on until it has begun.
func (l *lock) release() {
	_ = syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN) // closing gives the lock back in any case
	l.file.Close()                                       //nolint:errcheck // nothing is lost with it
}
