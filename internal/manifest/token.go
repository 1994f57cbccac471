package manifest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// span is a range of bytes, end exclusive.
type span struct{ start, end int }

// splice replaces a span.
type splice struct {
	span
	text string
}

// apply makes all splices at once. It refuses those that overlap.
func (s *source) apply(splices []splice) ([]byte, error) {
	slices.SortStableFunc(splices, func(a, b splice) int { return a.start - b.start })
	var out []byte
	at := 0
	for _, next := range splices {
		if next.start < at || next.end < next.start {
			return nil, s.unsafe("two changes overlap")
		}
		out = append(append(out, s.data[at:next.start]...), next.text...)
		at = next.end
	}
	return append(out, s.data[at:]...), nil
}

// unsafe refuses a file whose edited bytes would not mean what they should.
func (s *source) unsafe(why string) *Refusal {
	return refuse(UnintendedChange, s.name, 0, "the file is written in a way that cannot be edited safely: %s", why)
}

// token finds the bytes of a scalar or alias as written, quotes included,
// anchor and tag not. A value that is left empty has no token: see pairEnd.
func (s *source) token(node *yaml.Node) (span, error) {
	start := s.afterProperties(s.offset(node))
	rest := s.data[start:]
	length := -1
	switch {
	case node.Kind == yaml.AliasNode:
		length = 1 + len(node.Value)
	case node.Style&yaml.DoubleQuotedStyle != 0:
		length = quotedLength(rest, '"', '\\')
	case node.Style&yaml.SingleQuotedStyle != 0:
		length = quotedLength(rest, '\'', '\'')
	case node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		length = s.blockLength(start)
	case node.Kind == yaml.ScalarNode && bytes.HasPrefix(rest, []byte(node.Value)):
		length = len(node.Value)
	}
	if length < 0 || length > len(rest) {
		return span{}, fmt.Errorf("the value on line %d cannot be found in the file: write it on one line", node.Line)
	}
	return span{start, start + length}, nil
}

// afterProperties skips an anchor and a tag.
func (s *source) afterProperties(at int) int {
	for at < len(s.data) && (s.data[at] == '&' || s.data[at] == '!') {
		for at < len(s.data) && !isSpace(s.data[at]) {
			at++
		}
		for at < len(s.data) && isSpace(s.data[at]) {
			at++
		}
	}
	return at
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

// quotedLength measures a quoted scalar. escape makes the byte after it
// literal; in single quotes that is the quote itself, doubled.
func quotedLength(rest []byte, quote, escape byte) int {
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[i] == escape && escape != quote:
			i++
		case rest[i] == quote && escape == quote && i+1 < len(rest) && rest[i+1] == quote:
			i++
		case rest[i] == quote:
			return i + 1
		}
	}
	return -1
}

// blockLength measures a literal or folded scalar: its header and all lines
// that are indented deeper than the line it starts on, without the last line's
// end.
func (s *source) blockLength(start int) int {
	outer := s.indent(start)
	end := s.lineEnd(start)
	for at := s.nextLine(start); at < len(s.data); at = s.nextLine(at) {
		blank := len(bytes.TrimSpace(s.data[at:s.lineEnd(at)])) == 0
		if !blank && s.indent(at) <= outer {
			break
		}
		if !blank {
			end = s.lineEnd(at)
		}
	}
	return end - start
}

// lineStart, lineEnd and nextLine speak of the line that holds the byte at.
// A line's end is where its line break starts.
func (s *source) lineStart(at int) int { return bytes.LastIndexByte(s.data[:at], '\n') + 1 }

func (s *source) lineEnd(at int) int {
	i := bytes.IndexByte(s.data[at:], '\n')
	if i < 0 {
		return len(s.data)
	}
	if end := at + i; end > at && s.data[end-1] == '\r' {
		return end - 1
	}
	return at + i
}

func (s *source) nextLine(at int) int {
	if i := bytes.IndexByte(s.data[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(s.data)
}

// indent counts the spaces that start a line. Dashes of a list count too, since
// what stands behind one is indented by it.
func (s *source) indent(at int) int {
	line := s.data[s.lineStart(at):]
	line = bytes.TrimPrefix(line, byteOrderMark)
	n := 0
	for n < len(line) && (line[n] == ' ' || (line[n] == '-' && n+1 < len(line) && line[n+1] == ' ')) {
		n++
	}
	return n
}

// eol is the line break that the file uses.
func (s *source) eol() string {
	if i := bytes.IndexByte(s.data, '\n'); i > 0 && s.data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// pairEnd is where a pair's value ends, or its colon if the value is empty.
func (s *source) pairEnd(p pair) (int, error) {
	if isEmpty(p.value) {
		key, err := s.token(p.key)
		if err != nil {
			return 0, err
		}
		colon := bytes.IndexByte(s.data[key.end:], ':')
		if colon < 0 || len(bytes.TrimSpace(s.data[key.end:key.end+colon])) > 0 {
			return 0, fmt.Errorf("the key on line %d has no colon", p.key.Line)
		}
		return key.end + colon + 1, nil
	}
	return s.end(p.value)
}

func isEmpty(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && node.Value == "" && node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
}

// end is the byte after a node, closing bracket included.
func (s *source) end(node *yaml.Node) (int, error) {
	if node.Kind == yaml.ScalarNode || node.Kind == yaml.AliasNode {
		token, err := s.token(node)
		return token.end, err
	}
	at := s.afterProperties(s.offset(node))
	flow := node.Style&yaml.FlowStyle != 0
	if flow {
		at++
	}
	var err error
	if n := len(node.Content); n > 0 && node.Kind == yaml.MappingNode {
		at, err = s.pairEnd(pair{node.Content[n-2], node.Content[n-1]})
	} else if n > 0 {
		at, err = s.end(node.Content[n-1])
	}
	if err != nil || !flow {
		return at, err
	}
	for at < len(s.data) && strings.IndexByte("]}", s.data[at]) < 0 {
		if s.data[at] == '#' {
			at = s.lineEnd(at)
			continue
		}
		at++
	}
	return at + 1, nil
}
