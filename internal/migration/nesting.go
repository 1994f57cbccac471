package migration

import "strings"

// maxNesting is how deep the grammar is let go. Its code runs in a sandbox whose
// stack ends at about twice that; an overflow there would spoil it for every
// statement to come.
const maxNesting = 1000

// nesting bounds the depth of a statement's syntax tree from its tokens: each
// operator and each word that joins or wraps expressions may be one level above
// those before it, until a comma starts the next expression of a list.
type nesting struct {
	levels []int // what was counted within each open parenthesis
	now    int   // sum of levels
	max    int
}

// nestingWords are the words that can put one expression or query inside another.
var nestingWords = map[string]bool{
	"not": true, "is": true, "isnull": true, "notnull": true, "in": true, "between": true, "like": true, "ilike": true,
	"similar": true, "overlaps": true, "collate": true, "at": true, "operator": true, "case": true, "select": true,
	"union": true, "intersect": true, "except": true, "join": true, "with": true,
}

func (n *nesting) word(word string) {
	if nestingWords[strings.ToLower(word)] {
		n.add()
	}
}

func (n *nesting) add() {
	if len(n.levels) == 0 {
		n.levels = []int{0}
	}
	n.levels[len(n.levels)-1]++
	n.now++
	n.max = max(n.max, n.now)
}

func (n *nesting) open() {
	n.add()
	n.levels = append(n.levels, 0)
}

func (n *nesting) close() {
	if last := len(n.levels) - 1; last > 0 {
		n.now -= n.levels[last]
		n.levels = n.levels[:last]
	}
}

func (n *nesting) comma() {
	if last := len(n.levels) - 1; last >= 0 {
		n.now -= n.levels[last]
		n.levels[last] = 0
	}
}
