package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sluicehq/sluice/internal/gittree"
	"github.com/sluicehq/sluice/internal/promotion"
)

// Options say what is mirrored and where.
type Options struct {
	Name   string // in messages
	URL    string // https://…, ssh://… or user@host:path
	Branch string // the base branch
	Dir    string // of the mirror, of one process at a time; made if need be
	// Auth gives the user name and the password or token for each connection, so
	// that tokens may rotate; for SSH, the user and a private key in PEM. Nil:
	// what the URL holds, or else none for HTTP and the SSH agent for SSH. An
	// SSH host must be in the known_hosts of the user or machine.
	Auth func(context.Context) (username, secret string, err error)
	// Damaged is told what could not be read when the mirror was made anew for
	// it, if not nil.
	Damaged func(error)
}

// Mirror implements promotion.ConfigRepository. It is safe for concurrent use:
// fetches wait for each other, reads go on meanwhile.
type Mirror struct {
	name   string
	dir    string
	base   plumbing.ReferenceName
	remote remote
	lock   *os.File

	fetching  chan struct{} // holds one value while a fetch runs
	begun     atomic.Int64  // fetches begun
	succeeded int64         // the newest that succeeded; of who fetches

	damaged func(error)
	mended  map[string]bool // damage that the mirror was made anew for; of who fetches

	mu      sync.RWMutex
	objects *storage
	history *gittree.History
	refs    refs // of the remote, as last seen
	pushed  refs // by this process while a fetch runs
}

var _ promotion.ConfigRepository = (*Mirror)(nil)

// Open opens the mirror in Dir, as of its last fetch. The remote is asked only
// when there is no mirror yet, or when it is damaged: it holds nothing that the
// remote does not, so it is then made anew.
func Open(ctx context.Context, o Options) (*Mirror, error) {
	r, err := newRemote(o)
	if err != nil {
		return nil, fmt.Errorf("config repository %s: %w", o.Name, err)
	}
	m := &Mirror{name: o.Name, dir: filepath.Clean(o.Dir), base: plumbing.NewBranchReferenceName(o.Branch),
		remote: r, fetching: make(chan struct{}, 1), damaged: o.Damaged, mended: map[string]bool{}}
	if m.lock, err = lockFile(m.dir + ".lock"); err != nil {
		return nil, fmt.Errorf("mirror of %s: %w", o.Name, err)
	}
	if err = m.resume(); errors.Is(err, errNoMirror) {
		err = m.renew(ctx)
	} else if err != nil {
		err = m.renewFor(ctx, err)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("mirror %s: %w", o.Name, err), m.lock.Close())
	}
	return m, nil
}

// Close gives back the mirror's files and its lock. Views of trees cannot be
// read any more.
func (m *Mirror) Close() error {
	return errors.Join(m.store().Close(), m.lock.Close())
}

// lockFile takes a lock against other processes, which ends with this one.
func lockFile(name string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK}); err != nil {
		return nil, errors.Join(fmt.Errorf("%s is locked by another process: give each process a folder of its own (%w)", name, err), f.Close())
	}
	return f, nil
}

func (m *Mirror) adopt(objects *storage, now refs) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects, m.history, m.refs = objects, gittree.NewHistory(objects), now
}

func (m *Mirror) store() *storage {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.objects
}

func (m *Mirror) ancestry() *gittree.History {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.history
}

func (m *Mirror) known() refs {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.refs
}
