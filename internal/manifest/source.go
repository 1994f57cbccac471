package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// source is a YAML file with the place of every node in its bytes. The parsed
// nodes serve to find places only; they are never written back.
type source struct {
	name  string
	data  []byte
	lines []int // byte offset of each line, by the YAML parser's line breaks
	docs  []*yaml.Node
	json  bool // written as JSON: whatever is added must be, too
	bad   Code // how the file is refused when it is malformed

	aliased map[*yaml.Node]bool // nodes that an alias somewhere points to
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// parse reads all documents. A file that is empty or only comments has none.
func parse(name string, data []byte) (*source, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("the file is not UTF-8")
	}
	s := &source{
		name: name, data: data, lines: lineOffsets(data), bad: BadKustomization,
		aliased: map[*yaml.Node]bool{},
	}
	body := bytes.TrimSpace(bytes.TrimPrefix(data, byteOrderMark))
	s.json = bytes.HasPrefix(body, []byte("{")) && json.Valid(body)
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return nil, err
		}
		s.docs = append(s.docs, &doc)
		s.findAliases(&doc)
	}
}

func (s *source) findAliases(node *yaml.Node) {
	if node.Kind == yaml.AliasNode {
		s.aliased[node.Alias] = true
	}
	for _, child := range node.Content {
		s.findAliases(child)
	}
}

// lineOffsets splits lines where the YAML parser does: LF, CR, CRLF, NEL, LS
// and PS. The byte order mark is no column of the first line.
func lineOffsets(data []byte) []int {
	start := 0
	if bytes.HasPrefix(data, byteOrderMark) {
		start = len(byteOrderMark)
	}
	offsets := []int{start}
	for i := start; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		i += size
		if r == '\r' && i < len(data) && data[i] == '\n' {
			i++
		}
		if strings.ContainsRune("\n\r\u0085\u2028\u2029", r) {
			offsets = append(offsets, i)
		}
	}
	return offsets
}

// offset is the byte where a node starts, its anchor and tag included.
func (s *source) offset(node *yaml.Node) int {
	if node.Line < 1 || node.Line > len(s.lines) {
		return len(s.data)
	}
	at := s.lines[node.Line-1]
	for range node.Column - 1 {
		_, size := utf8.DecodeRune(s.data[at:])
		at += size
	}
	return at
}

// root is the only document's top node, or nil.
func (s *source) root() *yaml.Node {
	if len(s.docs) == 0 || len(s.docs[0].Content) == 0 {
		return nil
	}
	return s.docs[0].Content[0]
}
