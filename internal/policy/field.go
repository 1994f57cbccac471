package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// field is a value in a file and where it stands. Its methods read it as one type or another; whatever it is not, they note
// as a fault.
type field struct {
	*source
	node *yaml.Node
	name string // the last part of path
	path string // from the top, such as environments.prod.soak; empty for the whole file
}

func (f field) fault(code, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if f.path != "" {
		message = f.path + ": " + message
	}
	f.source.fault(f.node.Line, code, "%s", message)
}

// is tells whether the value has the type, by YAML 1.2: yes and 8:00 are texts, true and 10 are not.
func (f field) is(kind yaml.Kind, tag, wanted string) bool {
	switch {
	case f.node.Kind == yaml.AliasNode:
		f.fault(NotPlain, "is an alias: write the value out")
	case f.node.Style&yaml.TaggedStyle != 0:
		f.fault(NotPlain, "has the tag %s: write the value without", cut(f.node.Tag))
	case f.node.ShortTag() == "!!null":
		f.fault(WrongType, "has no value: give it %s, or remove the key", wanted)
	case f.node.Kind != kind || f.node.ShortTag() != tag:
		f.fault(WrongType, "must be %s, not %s", wanted, describe(f.node))
	default:
		return true
	}
	return false
}

// members are the values of a mapping, in the file's order. Without known names any text is a name.
func (f field) members(known ...string) []field {
	if !f.is(yaml.MappingNode, "!!map", "a mapping (key: value)") {
		return nil
	}
	var found []field
	seen := map[string]bool{}
	for i := 0; i+1 < len(f.node.Content); i += 2 {
		key := field{source: f.source, node: f.node.Content[i], path: f.path}
		if key.node.ShortTag() == "!!merge" {
			key.fault(NotPlain, "<< merges what an alias names: write the values out")
			continue
		}
		if !key.is(yaml.ScalarNode, "!!str", "a text as key") {
			continue
		}
		m := field{source: f.source, node: f.node.Content[i+1], name: key.node.Value, path: below(f.path, key.node.Value)}
		switch {
		case len(known) > 0 && !slices.Contains(known, m.name):
			key.fault(UnknownKey, "unknown key %s%s", cut(m.name), key.instead(m.name, known))
		case seen[m.name]:
			key.fault(DuplicateKey, "%s stands here twice", cut(m.name))
		default:
			found = append(found, m)
			seen[m.name] = true
		}
	}
	return found
}

// instead says what to write for an unknown key: what was probably meant, otherwise what there is.
func (f field) instead(name string, known []string) string {
	if best := nearest(name, f.ofEnvironments); f.path == "" && nearest(name, known) == "" && best != "" {
		return fmt.Sprintf(": %s is said of an environment, as in environments: {prod: {%s: …}}", best, best)
	}
	return instead(name, known)
}

// items are the values of a list, which may not be empty: an empty list reads like "none" to some and like "all" to others.
func (f field) items() []field {
	if !f.is(yaml.SequenceNode, "!!seq", "a list") {
		return nil
	}
	if len(f.node.Content) == 0 {
		f.fault(BadValue, "the list is empty: name something, or remove the key")
	}
	items := make([]field, len(f.node.Content))
	for i := range items {
		items[i] = f.item(i)
	}
	return items
}

func (f field) item(i int) field {
	return field{source: f.source, node: f.node.Content[i], path: fmt.Sprintf("%s[%d]", f.path, i)}
}

// text reads a text that is not blank.
func (f field) text() (string, bool) {
	if !f.is(yaml.ScalarNode, "!!str", "a text") {
		return "", false
	}
	if strings.TrimSpace(f.node.Value) == "" {
		f.fault(BadValue, "is blank")
		return "", false
	}
	return f.node.Value, true
}

// texts reads a list of different texts, each as read does.
func (f field) texts(read func(field) (string, bool)) ([]string, bool) {
	var texts []string
	seen := map[string]bool{}
	items := f.items()
	for _, item := range items {
		text, ok := read(item)
		switch {
		case !ok:
		case seen[text]:
			item.fault(BadValue, "%s stands here twice", cut(text))
		default:
			texts = append(texts, text)
			seen[text] = true
		}
	}
	return texts, len(items) > 0 && len(texts) == len(items)
}

// choice reads one of several words.
func (f field) choice(words ...string) (string, bool) {
	if !f.is(yaml.ScalarNode, "!!str", listed(words)) {
		return "", false
	}
	if !slices.Contains(words, f.node.Value) {
		f.fault(BadValue, "must be %s, not %s%s", listed(words), cut(f.node.Value), meant(f.node.Value, words))
		return "", false
	}
	return f.node.Value, true
}

// decimal are the whole numbers that mean the same to every reader of YAML: 010 is eight to some.
var decimal = regexp.MustCompile(`^(0|[1-9][0-9]{0,8})$`)

// whole reads a whole number from 0 to most.
func (f field) whole(most int) (int, bool) {
	wanted := fmt.Sprintf("a whole number from 0 to %d", most)
	if !f.is(yaml.ScalarNode, "!!int", wanted) {
		return 0, false
	}
	n, err := strconv.Atoi(f.node.Value)
	if err != nil || n > most || !decimal.MatchString(f.node.Value) {
		f.fault(BadValue, "must be %s, not %s", wanted, cut(f.node.Value))
		return 0, false
	}
	return n, true
}

// below is the path of a member. A name that would not read well in it is quoted.
func below(path, name string) string {
	switch {
	case name == "" || len(name) > 60 || strings.ContainsFunc(name, isOdd):
		return path + "[" + cut(name) + "]"
	case path == "":
		return name
	}
	return path + "." + name
}

func isOdd(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-*?./:", r)
}
