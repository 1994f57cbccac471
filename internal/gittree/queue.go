package gittree

import (
	"bytes"
	"container/heap"
)

// side is from which of two commits a third was reached.
type side int

const (
	ofLeft side = 1 << iota
	ofRight
)

// queue holds commits to be visited, deepest first; of equal depth by hash, so
// that answers do not depend on who asks.
type queue struct {
	nodes   []*node
	reached map[*node]side
}

func (q *queue) reach(n *node, by side) {
	if q.reached[n] == 0 {
		heap.Push(q, n)
	}
	q.reached[n] |= by
}

func (q *queue) pop() *node { return heap.Pop(q).(*node) }

func (q *queue) Len() int      { return len(q.nodes) }
func (q *queue) Swap(i, j int) { q.nodes[i], q.nodes[j] = q.nodes[j], q.nodes[i] }
func (q *queue) Push(x any)    { q.nodes = append(q.nodes, x.(*node)) }

func (q *queue) Less(i, j int) bool {
	a, b := q.nodes[i], q.nodes[j]
	if a.depth != b.depth {
		return a.depth > b.depth
	}
	return bytes.Compare(a.hash[:], b.hash[:]) < 0
}

func (q *queue) Pop() any {
	last := len(q.nodes) - 1
	n := q.nodes[last]
	q.nodes = q.nodes[:last]
	return n
}
