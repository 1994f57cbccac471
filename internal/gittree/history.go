package gittree

import (
	"fmt"
	"slices"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// FirstParents walks the first-parent history from a commit backwards until
// visit returns false or there is no parent.
func FirstParents(objects storer.EncodedObjectStorer, from plumbing.Hash, visit func(*object.Commit) (more bool, err error)) error {
	for {
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
}

// History answers questions about ancestry. It reads each commit once and then
// remembers its parents and its depth, the length of the longest way to a
// root. An ancestor's depth is always smaller, so a search can stop early
// without trusting commit times, which anybody may set. It is as safe for
// concurrent use as its object store.
type History struct {
	objects storer.EncodedObjectStorer

	mu    sync.Mutex
	nodes map[plumbing.Hash]*node
}

type node struct {
	hash    plumbing.Hash
	parents []*node
	depth   int
}

// NewHistory knows nothing yet.
func NewHistory(objects storer.EncodedObjectStorer) *History {
	return &History{objects: objects, nodes: map[plumbing.Hash]*node{}}
}

// node reads a commit and, the first time, everything before it. It keeps its
// own stack: histories are longer than a goroutine's should be.
func (h *History) node(commit plumbing.Hash) (*node, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	parents := map[plumbing.Hash][]plumbing.Hash{} // of those on the stack
	for stack := []plumbing.Hash{commit}; len(stack) > 0; {
		hash := stack[len(stack)-1]
		if h.nodes[hash] == nil && parents[hash] == nil {
			c, err := object.GetCommit(h.objects, hash)
			if err != nil {
				return nil, fmt.Errorf("read commit %s: %w", hash, err)
			}
			parents[hash] = slices.Clip(c.ParentHashes)
			before := len(stack)
			for _, p := range c.ParentHashes {
				if h.nodes[p] == nil {
					stack = append(stack, p)
				}
			}
			if len(stack) > before {
				continue
			}
		}
		if h.nodes[hash] == nil {
			h.nodes[hash] = h.join(hash, parents[hash])
		}
		stack = stack[:len(stack)-1]
	}
	return h.nodes[commit], nil
}

func (h *History) join(hash plumbing.Hash, parents []plumbing.Hash) *node {
	n := &node{hash: hash}
	for _, p := range parents {
		parent := h.nodes[p]
		n.parents = append(n.parents, parent)
		n.depth = max(n.depth, parent.depth+1)
	}
	return n
}

// Contains tells whether ancestor is descendant or one of its ancestors.
func (h *History) Contains(descendant, ancestor plumbing.Hash) (bool, error) {
	from, err := h.node(descendant)
	if err != nil {
		return false, err
	}
	to, err := h.node(ancestor)
	if err != nil {
		return false, err
	}
	seen := map[*node]bool{}
	for stack := []*node{from}; len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n == to {
			return true, nil
		}
		if n.depth <= to.depth || seen[n] {
			continue
		}
		seen[n] = true
		stack = append(stack, n.parents...)
	}
	return false, nil
}

// MergeBase is a best common ancestor of two commits, one that is no ancestor
// of another; of several the deepest. False when they have none in common.
func (h *History) MergeBase(a, b plumbing.Hash) (plumbing.Hash, bool, error) {
	left, err := h.node(a)
	if err != nil {
		return plumbing.ZeroHash, false, err
	}
	right, err := h.node(b)
	if err != nil {
		return plumbing.ZeroHash, false, err
	}
	// Commits are visited deepest first, so whoever reaches one has done so
	// when its turn comes, and the first that both reach is a best one.
	q := &queue{reached: map[*node]side{}}
	q.reach(left, ofLeft)
	q.reach(right, ofRight)
	for q.Len() > 0 {
		n := q.pop()
		by := q.reached[n]
		if by == ofLeft|ofRight {
			return n.hash, true, nil
		}
		for _, p := range n.parents {
			q.reach(p, by)
		}
	}
	return plumbing.ZeroHash, false, nil
}
