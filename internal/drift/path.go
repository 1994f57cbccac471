package drift

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Path leads to a field. Its elements are written as managedFields write them: f:name is a field, k:{"name":"web"} the
// element of a list with these keys, i:0 one by its place.
type Path []string

// String is the path for people: spec.template.spec.containers[web].image.
func (p Path) String() string {
	var out strings.Builder
	for _, e := range p {
		kind, rest, _ := strings.Cut(e, ":")
		switch {
		case kind == "k":
			out.WriteString("[" + keyText(rest) + "]")
		case kind == "f" && strings.ContainsAny(rest, "./[]"):
			fmt.Fprintf(&out, "[%s]", rest)
		case kind == "f" && out.Len() > 0:
			out.WriteString("." + rest)
		case kind == "f":
			out.WriteString(rest)
		default:
			out.WriteString("[" + rest + "]")
		}
	}
	return out.String()
}

// Fields are the names of the path's fields without the elements of lists.
func (p Path) Fields() []string {
	var names []string
	for _, e := range p {
		if name, ok := strings.CutPrefix(e, "f:"); ok {
			names = append(names, name)
		}
	}
	return names
}

// Name is the name of the innermost element of a list around the field, such as that of an environment variable.
func (p Path) Name() string {
	for _, e := range slices.Backward(p) {
		if text, ok := strings.CutPrefix(e, "k:"); ok {
			name, _ := keysIn(text)["name"].(string)
			return name
		}
	}
	return ""
}

func (p Path) key() string { return strings.Join(p, "\x00") }

func (p Path) add(element string) Path { return append(slices.Clip(p), element) }

func (p Path) last() string {
	if len(p) == 0 {
		return ""
	}
	return strings.TrimPrefix(p[len(p)-1], "f:")
}

// isOpen tells whether many write into a map, each a key of its own.
func (p Path) isOpen() bool { return p.last() == "annotations" || p.last() == "labels" }

func keyText(keys string) string {
	values := keysIn(keys)
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = fmt.Sprint(values[name])
	}
	return strings.Join(names, ",")
}

func keysIn(text string) map[string]any {
	var keys map[string]any
	if json.Unmarshal([]byte(text), &keys) != nil {
		return nil
	}
	return keys
}

// at is the value that a path leads to.
func at(o any, p Path) (any, bool) {
	for _, e := range p {
		kind, rest, _ := strings.Cut(e, ":")
		var ok bool
		switch in := o.(type) {
		case map[string]any:
			o, ok = in[rest]
			ok = ok && kind == "f"
		case []any:
			o, ok = elementAt(in, kind, rest)
		}
		if !ok {
			return nil, false
		}
	}
	return o, true
}

func elementAt(list []any, kind, rest string) (any, bool) {
	switch kind {
	case "i":
		i, err := strconv.Atoi(rest)
		if err != nil || i < 0 || i >= len(list) {
			return nil, false
		}
		return list[i], true
	case "v":
		for _, item := range list {
			if text, err := json.Marshal(item); err == nil && string(text) == rest {
				return item, true
			}
		}
	case "k":
		var names []string
		for name := range keysIn(rest) {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, item := range list {
			if text, ok := elementKey(item, names); ok && text == rest {
				return item, true
			}
		}
	}
	return nil, false
}

// elementKey writes the keys of a list's element; ok is false when it lacks one.
func elementKey(item any, names []string) (string, bool) {
	fields, ok := item.(map[string]any)
	if !ok {
		return "", false
	}
	keys := map[string]any{}
	for _, name := range names {
		value, there := fields[name]
		switch {
		case there:
			keys[name] = value
		case name == "protocol":
			keys[name] = "TCP" // the default that the API server keys by
		default:
			return "", false
		}
	}
	text, err := json.Marshal(keys)
	return string(text), err == nil
}
