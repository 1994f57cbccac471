package gittree

import (
	"container/heap"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// FirstParents walks the first-parent history from a commit backwards until
// visit returns false or there is no parent.
func FirstParents(objects storer.EncodedObjectStorer, from plumbing.Hash, visit func(*object.Commit) (more bool, err error)) error {
	for !from.IsZero() {
		c, err := object.GetCommit(objects, from)
		if err != nil {
			return fmt.Errorf("read commit %s: %w", from, err)
		}
		more, err := visit(c)
		if err != nil || !more || len(c.ParentHashes) == 0 {
			return err
		}
		from = c.ParentHashes[0]
	}
	return nil
}

// Contains tells whether ancestor is descendant or one of its ancestors. It does not
// trust commit times, which anybody may set, except to look at newer commits first.
func Contains(objects storer.EncodedObjectStorer, descendant, ancestor plumbing.Hash) (bool, error) {
	found := false
	err := walk(objects, []plumbing.Hash{descendant}, func(c *object.Commit) bool {
		found = c.Hash == ancestor
		return !found
	})
	return found, err
}

// MergeBase is a newest common ancestor of two commits; false when they have none.
func MergeBase(objects storer.EncodedObjectStorer, a, b plumbing.Hash) (plumbing.Hash, bool, error) {
	of := map[plumbing.Hash]bool{}
	if err := walk(objects, []plumbing.Hash{a}, func(c *object.Commit) bool { of[c.Hash] = true; return true }); err != nil {
		return plumbing.ZeroHash, false, err
	}
	var base plumbing.Hash
	err := walk(objects, []plumbing.Hash{b}, func(c *object.Commit) bool {
		if of[c.Hash] {
			base = c.Hash
		}
		return base.IsZero()
	})
	return base, !base.IsZero(), err
}

// walk visits commits and their ancestors once each, newer ones first.
func walk(objects storer.EncodedObjectStorer, from []plumbing.Hash, visit func(*object.Commit) bool) error {
	seen := map[plumbing.Hash]bool{}
	queue := &commits{}
	push := func(h plumbing.Hash) error {
		if seen[h] {
			return nil
		}
		seen[h] = true
		c, err := object.GetCommit(objects, h)
		if err != nil {
			return fmt.Errorf("read commit %s: %w", h, err)
		}
		heap.Push(queue, c)
		return nil
	}
	for _, h := range from {
		if err := push(h); err != nil {
			return err
		}
	}
	for queue.Len() > 0 {
		c := heap.Pop(queue).(*object.Commit)
		if !visit(c) {
			return nil
		}
		for _, p := range c.ParentHashes {
			if err := push(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// commits is a heap, newest first.
type commits []*object.Commit

func (q commits) Len() int           { return len(q) }
func (q commits) Less(i, j int) bool { return q[i].Committer.When.After(q[j].Committer.When) }
func (q commits) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *commits) Push(x any)        { *q = append(*q, x.(*object.Commit)) }

func (q *commits) Pop() any {
	last := len(*q) - 1
	c := (*q)[last]
	*q = (*q)[:last]
	return c
}
