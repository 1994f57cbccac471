package migration

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	pgquery "github.com/wasilibs/go-pgquery"

	"google.golang.org/protobuf/proto"
)

// action is one statement of a file.
type action struct {
	n    int // number of the statement in its file; several share it where a block holds several
	line int
	node proto.Message // of the grammar's types; nil where it is no statement
}

// section is a stretch of a file that is to be run.
type section struct {
	text  string
	line  int  // of its first line, from 1
	whole bool // one statement, semicolons and all
}

// actions reads the statements of sections, numbered through.
func actions(sections []section) []action {
	var all []action
	n := 0
	for _, s := range sections {
		if s.whole {
			all = append(all, wholeActions(s, &n)...)
			continue
		}
		pieces := split(s.text, s.line)
		for len(pieces) > 0 {
			n++
			nodes, used := parsePieces(s.text, pieces)
			all = append(all, number(nodes, n, pieces[0].line)...)
			pieces = pieces[used:]
		}
	}
	return all
}

// wholeActions reads a block that its tool sends to the server in one go.
func wholeActions(s section, n *int) []action {
	pieces := split(s.text, s.line)
	if len(pieces) == 0 {
		return nil
	}
	*n++
	tooDeep := slices.ContainsFunc(pieces, func(p piece) bool { return p.nesting > maxNesting })
	if tooDeep {
		return number([]proto.Message{nil}, *n, pieces[0].line)
	}
	nodes, ok := parse(s.text)
	if !ok {
		nodes = []proto.Message{nil}
	}
	return number(nodes, *n, pieces[0].line)
}

func number(nodes []proto.Message, n, line int) []action {
	var numbered []action
	for _, node := range nodes {
		numbered = append(numbered, action{n: n, line: line, node: node})
	}
	return numbered
}

var atomicBody = regexp.MustCompile(`(?i)\bBEGIN\s+ATOMIC\b`)

// parsePieces reads the first piece, together with as many of the next ones as
// belong to it: the semicolons of a rule's actions and of a function's BEGIN
// ATOMIC body end no statement.
func parsePieces(text string, pieces []piece) (nodes []proto.Message, used int) {
	first := pieces[0]
	if first.broken || first.nesting > maxNesting {
		return []proto.Message{nil}, 1
	}
	own := text[first.start:first.end]
	if nodes, ok := parse(own); ok {
		return nodes, 1
	}
	atomic := atomicBody.MatchString(own)
	depth := first.depth
	for i := 1; i < len(pieces) && (atomic || first.depth > 0); i++ {
		last := pieces[i]
		if last.broken || last.nesting > maxNesting {
			break
		}
		depth += last.depth
		if !atomic && depth > 0 || atomic && !strings.EqualFold(text[last.start:last.end], "END") {
			continue
		}
		if nodes, ok := parse(text[first.start:last.end]); ok {
			return nodes, i + 1
		}
		break
	}
	return []proto.Message{nil}, 1
}

// parse reads text with PostgreSQL's grammar. A statement that it cannot hold all
// the same is none: it must not end the program.
func parse(text string) (nodes []proto.Message, ok bool) {
	defer func() {
		if crash := recover(); crash != nil {
			nodes, ok = nil, false
		}
	}()
	// The grammar takes a NUL for the end: what follows would go unseen.
	if strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
		return nil, false
	}
	tree, err := pgquery.Parse(text)
	if err != nil {
		return nil, false
	}
	for _, raw := range tree.GetStmts() {
		node, err := inner(raw.GetStmt())
		if err != nil {
			return nil, false
		}
		nodes = append(nodes, node)
	}
	return nodes, true
}

// inner takes a node out of the wrapper that can hold any of them.
func inner(wrapper proto.Message) (proto.Message, error) {
	m := wrapper.ProtoReflect()
	if oneofs := m.Descriptor().Oneofs(); m.IsValid() && oneofs.Len() == 1 {
		if field := m.WhichOneof(oneofs.Get(0)); field != nil {
			return m.Get(field).Message().Interface(), nil
		}
	}
	return nil, fmt.Errorf("the grammar gave an empty %s", m.Descriptor().Name())
}
