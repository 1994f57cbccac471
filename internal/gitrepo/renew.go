package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sluicehq/sluice/internal/gittree"
)

var errNoMirror = errors.New("there is no mirror yet")

// resume takes up the mirror that an earlier process left, if it can be read.
func (m *Mirror) resume() error {
	if _, err := os.Stat(m.dir); errors.Is(err, fs.ErrNotExist) {
		return errNoMirror
	}
	known, err := loadRefs(m.dir)
	if err != nil {
		return err
	}
	objects := openStorage(m.dir)
	if err := errors.Join(objects.sweep(), whole(objects, known[m.base])); err != nil {
		return errors.Join(err, objects.Close())
	}
	m.adopt(objects, known)
	return nil
}

// whole tells whether a commit and its tree are really there. That more is
// missing is found by who reads it.
func whole(objects *storage, head plumbing.Hash) error {
	if head.IsZero() {
		return nil
	}
	c, err := object.GetCommit(objects, head)
	if err == nil {
		_, err = gittree.New(objects, c.TreeHash).ReadDir(".")
	}
	if err != nil {
		return fmt.Errorf("read commit %s: %w", head, err)
	}
	return nil
}

// mend makes the mirror anew when reading from it has failed.
func (m *Mirror) mend(ctx context.Context) error {
	objects := m.store()
	damage := objects.damage.Load()
	if damage == nil {
		return nil
	}
	if m.mended[(*damage).Error()] {
		objects.damage.CompareAndSwap(damage, nil)
		return nil
	}
	return m.renewFor(ctx, *damage)
}

// renewFor makes the mirror anew, once for the same damage: if that comes back, it
// is the remote's own, and only who reads it is told.
func (m *Mirror) renewFor(ctx context.Context, damage error) error {
	if m.mended[damage.Error()] {
		return fmt.Errorf("what the remote has is damaged: %w", damage)
	}
	if err := m.renew(ctx); err != nil {
		return fmt.Errorf("the mirror is damaged (%w) and cannot be made anew: %w", damage, err)
	}
	m.mended[damage.Error()] = true
	if m.damaged != nil {
		m.damaged(damage)
	}
	return nil
}

// renew clones into a folder beside the mirror's, which then takes its place.
// Who still reads the old one keeps its open packs.
func (m *Mirror) renew(ctx context.Context) error {
	fresh := m.dir + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	now, err := m.clone(ctx, fresh)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(m.dir); err != nil {
		return err
	}
	if err := os.Rename(fresh, m.dir); err != nil {
		return err
	}
	m.adopt(openStorage(m.dir), now)
	return nil
}

func (m *Mirror) clone(ctx context.Context, dir string) (refs, error) {
	objects, err := initStorage(dir, m.base)
	if err != nil {
		return nil, err
	}
	defer objects.Close() //nolint:errcheck // it is opened again to be used
	now, err := m.download(ctx, objects, nil, m.tracked, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	if err := whole(objects, now[m.base]); err != nil {
		return nil, fmt.Errorf("what the remote sent is not whole: %w", err)
	}
	return now, now.save(dir)
}
