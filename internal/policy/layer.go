package policy

import (
	"cmp"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/promotion"
)

// said is what a file says of one setting, and where.
type said struct {
	*setting
	value
	line int
	path string
}

// layer is what one place says of one environment, or of those that a pattern names.
type layer []said

// apply makes p what the layer says.
func (l layer) apply(p *promotion.EnvironmentPolicy) {
	for _, s := range l {
		s.set(p)
	}
}

// keys are the names that may stand in a group of settings, by the group's name with its dot.
var keys, settingOf = index(settings)

func index(settings []setting) (map[string][]string, map[string]*setting) {
	keys, settingOf := map[string][]string{"": {"rank"}}, map[string]*setting{}
	for i, s := range settings {
		settingOf[s.key] = &settings[i]
		group, name := "", s.key
		if head, rest, grouped := strings.Cut(s.key, "."); grouped {
			group, name = head+".", rest
			if !slices.Contains(keys[""], head) {
				keys[""] = append(keys[""], head)
			}
		}
		keys[group] = append(keys[group], name)
	}
	return keys, settingOf
}

// layer reads the settings of a group; the outermost has no name. Rank is none of them: an environment has it, not a target.
func (f field) layer(group string, rank func(field)) layer {
	var l layer
	for _, m := range f.members(keys[group]...) {
		key := group + m.name
		s, found := settingOf[key]
		switch {
		case key == "rank":
			rank(m)
		case !found:
			l = append(l, m.layer(key+".", rank)...)
		default:
			if v, ok := s.read(m); ok {
				l = append(l, said{s, v, m.node.Line, m.path})
			}
		}
	}
	return l
}

// named holds values by a name, or by a pattern of names as path.Match has them.
type named[T any] struct {
	exact    map[string]T
	patterns []pattern[T] // the least specific first
}

type pattern[T any] struct {
	text    string
	letters int // that it spells out
	value   T
}

func (n *named[T]) add(name string, value T) {
	if isPattern(name) {
		less := func(p pattern[T], letters int) int { return cmp.Compare(p.letters, letters+1) }
		i, _ := slices.BinarySearchFunc(n.patterns, lettersOf(name), less)
		n.patterns = slices.Insert(n.patterns, i, pattern[T]{name, lettersOf(name), value})
		return
	}
	if n.exact == nil {
		n.exact = map[string]T{}
	}
	n.exact[name] = value
}

// of gives what holds for a name, the most specific last: patterns by how many letters they spell out, those with the same number
// as they stand in the file, and the name itself.
func (n named[T]) of(name string) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, p := range n.patterns {
			if matches(p.text, name) && !yield(p.value) {
				return
			}
		}
		if value, found := n.exact[name]; found {
			yield(value)
		}
	}
}

func isPattern(name string) bool { return strings.ContainsAny(name, `*?[\`) }

func lettersOf(pattern string) int {
	return len(pattern) - strings.Count(pattern, "*") - strings.Count(pattern, "?")
}

// matches holds a name against a pattern that was found well formed.
func matches(pattern, name string) bool {
	ok, _ := path.Match(pattern, name)
	return ok
}

// pattern reads a name or a pattern of names.
func (f field) pattern() (string, bool) {
	text, ok := f.text()
	return text, ok && f.wellFormed(text)
}

func (f field) wellFormed(pattern string) bool {
	if _, err := path.Match(pattern, ""); err != nil {
		f.fault(BadValue, "%s is no pattern: use * for any letters, ? for one and [a-z] for one of several", cut(pattern))
		return false
	}
	return true
}
