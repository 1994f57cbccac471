package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sluicehq/sluice/internal/gittree"
	"github.com/sluicehq/sluice/internal/promotion"
)

// Touching reads the past of many targets in one walk over the first-parent
// history that ends at until. For each key of places it lists the newest commits, at
// most perKey and oldest first, that changed anything at or below one of the key's
// paths (folders or files; "." is the whole tree). Only the newest depth commits are
// looked at. A key that nothing touched has no entry. Changed is left empty: Commit
// tells it, and here it would grow with the repository.
func (m *Mirror) Touching(ctx context.Context, until string, places map[string][]string, perKey, depth int) (map[string][]promotion.Commit, error) {
	last, err := m.commit(until)
	if err != nil {
		return nil, err
	}
	w := &walk{mirror: m, places: gittree.NewPlaces(places), found: map[string][]promotion.Commit{},
		perKey: perKey, depth: depth, wanting: len(places)}
	err = gittree.FirstParents(m.store(), last.Hash, func(c *object.Commit) (bool, error) {
		if w.depth == 0 || w.wanting == 0 || perKey <= 0 || ctx.Err() != nil {
			return false, nil
		}
		w.depth--
		return true, w.visit(c)
	})
	if err := errors.Join(m.noting(err), ctx.Err()); err != nil {
		return nil, fmt.Errorf("read the history of %s: %w", m.name, err)
	}
	for _, commits := range w.found {
		slices.Reverse(commits)
	}
	return w.found, nil
}

// walk goes backwards through history.
type walk struct {
	mirror  *Mirror
	places  *gittree.Places
	found   map[string][]promotion.Commit // newest first
	perKey  int
	depth   int // commits still to be looked at
	wanting int // keys that have fewer than perKey commits
}

func (w *walk) visit(c *object.Commit) error {
	before, err := w.mirror.before(c)
	if err != nil {
		return err
	}
	touched, err := w.places.Touched(w.mirror.store(), before, c.TreeHash)
	if err != nil {
		return err
	}
	d := described(c)
	for _, key := range touched {
		if len(w.found[key]) == w.perKey {
			continue
		}
		w.found[key] = append(w.found[key], d)
		if len(w.found[key]) == w.perKey {
			w.wanting--
		}
	}
	return nil
}
