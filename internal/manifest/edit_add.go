package manifest

import (
	"bytes"
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"
)

var (
	errNotList      = errors.New("there is no list where one belongs")
	errNotScalar    = errors.New("there is a map or a list where a text belongs")
	errEmptyElement = errors.New("there is an empty element in the list: write '' there first")
)

// addition is a key and value to add to an entry.
type addition struct {
	key, value string
	form       form
}

// form says how an addition's value is written.
type form int

const (
	asText  form = iota
	asIs         // a number or boolean
	asBlock      // a text of several lines, as a literal where the file is in block style
)

// addPairs adds pairs behind newName or, without one, behind name.
func (s *source) addPairs(entry *yaml.Node, added []addition) (splice, error) {
	anchor, ok := own(entry, "newName")
	if !ok {
		anchor, ok = own(entry, "name")
	}
	if !ok {
		return splice{}, s.shares(entry.Line) // the name comes from a merge
	}
	at, err := s.pairEnd(anchor)
	if err != nil {
		return splice{}, s.lost(anchor.key, err)
	}
	flow := entry.Style&yaml.FlowStyle != 0
	between := ", "
	if !flow || entry.Line != anchor.key.Line {
		between = s.eol() + s.margin(anchor.key)
		if flow {
			between = "," + between
		}
	}
	if !flow {
		at = s.lineEnd(at)
	}
	var text strings.Builder
	for _, a := range added {
		text.WriteString(between + s.pairText(a))
	}
	return splice{span{at, at}, text.String()}, nil
}

// margin is the white space to put before something under node. It is copied
// where it can be, since JSON may be indented with tabs.
func (s *source) margin(node *yaml.Node) string {
	before := s.data[s.lineStart(s.offset(node)):s.offset(node)]
	if len(bytes.Trim(before, " \t")) == 0 {
		return string(before)
	}
	return strings.Repeat(" ", node.Column-1)
}

func (s *source) pairText(a addition) string {
	if a.form == asIs {
		return write(a.key, 0, s.json) + ": " + a.value
	}
	return write(a.key, 0, s.json) + ": " + write(a.value, 0, s.json)
}

// literal writes a text of several lines below its key, which is indented so far.
func (s *source) literal(a addition, indent int) string {
	var text strings.Builder
	text.WriteString(write(a.key, 0, false) + ": |-")
	for line := range strings.SplitSeq(a.value, "\n") {
		text.WriteString(s.eol() + strings.Repeat(" ", indent+2) + line)
	}
	return text.String()
}

func (s *source) flowEntry(added []addition) string {
	texts := make([]string, len(added))
	for i, a := range added {
		texts[i] = s.pairText(a)
	}
	return "{" + strings.Join(texts, ", ") + "}"
}

// added gives the file with an entry for an image more.
func (s *source) added(g goal) ([]byte, error) {
	entry := []addition{{key: "name", value: g.name}}
	if g.name != g.target.repository {
		entry = append(entry, addition{key: "newName", value: g.target.repository})
	}
	change, err := s.add("images", append(entry, addition{key: "digest", value: g.target.digest}))
	if err != nil {
		return nil, err
	}
	return s.apply([]splice{change})
}

// add gives the splice that adds an entry to a list such as `images`, or the list itself at
// the end.
func (s *source) add(name string, added []addition) (splice, error) {
	root := s.root()
	list, merged := field(root, name)
	if merged || s.aliased[root] {
		return splice{}, s.shares(root.Line)
	}
	p, exists := own(root, name)
	switch {
	case !exists:
		return s.addList(root, name, added)
	case list.Kind == yaml.AliasNode || s.aliased[list]:
		return splice{}, s.shares(list.Line)
	case list.Kind == yaml.ScalarNode:
		return s.fillList(p, added)
	case list.Kind != yaml.SequenceNode:
		return splice{}, s.lost(list, errNotList)
	case list.Style&yaml.FlowStyle != 0:
		return s.addToFlow(list, added)
	}
	return s.addToBlock(list, added)
}

// fillList gives `images:` or `images: null` a value.
func (s *source) fillList(p pair, added []addition) (splice, error) {
	text := "[" + s.flowEntry(added) + "]"
	if isEmpty(p.value) {
		at, err := s.pairEnd(p)
		if err != nil {
			return splice{}, s.lost(p.key, err)
		}
		return splice{span{at, at}, " " + text}, nil
	}
	token, err := s.token(p.value)
	if err != nil {
		return splice{}, s.lost(p.value, err)
	}
	return splice{token, text}, nil
}

func (s *source) addToFlow(list *yaml.Node, added []addition) (splice, error) {
	text := s.flowEntry(added)
	n := len(list.Content)
	if n == 0 {
		at := s.afterProperties(s.offset(list)) + 1
		return splice{span{at, at}, text}, nil
	}
	last := list.Content[n-1]
	at, err := s.end(last)
	if err != nil {
		return splice{}, s.lost(last, err)
	}
	between := ", "
	if last.Line != list.Line {
		between = "," + s.eol() + s.margin(last)
	}
	return splice{span{at, at}, between + text}, nil
}

// addToBlock adds an entry behind the last one, indented as that is.
func (s *source) addToBlock(list *yaml.Node, added []addition) (splice, error) {
	last := list.Content[len(list.Content)-1]
	at, err := s.end(last)
	if err != nil {
		return splice{}, s.lost(last, err)
	}
	dash, gap := list.Column-1, 1
	if first := deref(list.Content[0]); first.Kind == yaml.MappingNode && list.Content[0].Line == list.Line {
		gap = max(1, s.offset(list.Content[0])-s.offset(list)-1)
	}
	at = s.lineEnd(at)
	for next := s.nextLine(at); next < len(s.data) && s.isComment(next) && s.indent(next) > dash; next = s.nextLine(next) {
		at = s.lineEnd(next)
	}
	return splice{span{at, at}, s.eol() + s.blockEntry(dash, gap, added)}, nil
}

func (s *source) isComment(at int) bool {
	return bytes.HasPrefix(bytes.TrimLeft(s.data[at:s.lineEnd(at)], " "), []byte("#"))
}

// blockEntry writes a list element without the last line's break.
func (s *source) blockEntry(dash, gap int, added []addition) string {
	var text strings.Builder
	for i, a := range added {
		if i == 0 {
			text.WriteString(strings.Repeat(" ", dash) + "-" + strings.Repeat(" ", gap))
		} else {
			text.WriteString(s.eol() + strings.Repeat(" ", dash+1+gap))
		}
		if a.form == asBlock {
			text.WriteString(s.literal(a, dash+1+gap))
		} else {
			text.WriteString(s.pairText(a))
		}
	}
	return text.String()
}

// addList adds the whole field at the end of the document.
func (s *source) addList(root *yaml.Node, name string, added []addition) (splice, error) {
	if root.Style&yaml.FlowStyle != 0 {
		return s.addFlowList(root, name, added)
	}
	indent := root.Column - 1
	text := strings.Repeat(" ", indent) + name + ":" + s.eol() + s.blockEntry(indent+s.listIndent(root), 1, added)
	at := s.documentEnd()
	if at > 0 && s.data[at-1] != '\n' {
		return splice{span{at, at}, s.eol() + text}, nil
	}
	return splice{span{at, at}, text + s.eol()}, nil
}

func (s *source) addFlowList(root *yaml.Node, name string, added []addition) (splice, error) {
	n := len(root.Content)
	last := pair{root.Content[n-2], root.Content[n-1]}
	at, err := s.pairEnd(last)
	if err != nil {
		return splice{}, s.lost(last.key, err)
	}
	between := ", "
	if last.key.Line != root.Line {
		between = "," + s.eol() + s.margin(last.key)
	}
	return splice{span{at, at}, between + write(name, 0, s.json) + ": [" + s.flowEntry(added) + "]"}, nil
}

// listIndent is how far the file indents its lists below their keys.
func (s *source) listIndent(root *yaml.Node) int {
	for _, p := range pairs(root) {
		if p.value.Kind == yaml.SequenceNode && p.value.Style&yaml.FlowStyle == 0 && p.value.Column >= root.Column {
			return p.value.Column - root.Column
		}
	}
	return 0
}

// documentEnd is the end of the file, or where `...` ends the document.
func (s *source) documentEnd() int {
	for at := s.nextLine(0); at < len(s.data); at = s.nextLine(at) {
		if line := s.data[at:s.lineEnd(at)]; bytes.Equal(bytes.TrimRight(line, " \t"), []byte("...")) {
			return at
		}
	}
	return len(s.data)
}
