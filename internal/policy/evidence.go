package policy

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sluicehq/sluice/internal/promotion"
)

// evidence is stricter when more is asked for. A list replaces a less specific one whole, so an empty one asks for none.
func evidence(key string) setting {
	text := func(needed []promotion.NeededEvidence) string {
		texts := make([]string, len(needed))
		for i, n := range needed {
			texts[i] = n.String()
		}
		return "[" + strings.Join(texts, ", ") + "]"
	}
	return setting{
		key:  key,
		show: func(p *promotion.EnvironmentPolicy) string { return text(p.Evidence) },
		read: func(f field) (value, bool) {
			own, ok := f.evidence()
			return value{
				set: func(p *promotion.EnvironmentPolicy) { p.Evidence = slices.Clone(own) },
				looser: func(than *promotion.EnvironmentPolicy) bool {
					return slices.ContainsFunc(than.Evidence, func(n promotion.NeededEvidence) bool { return !slices.Contains(own, n) })
				},
				text: text(own),
			}, ok
		},
	}
}

// evidence reads a list of names, or of names with the environment that they must come from.
func (f field) evidence() ([]promotion.NeededEvidence, bool) {
	if !f.is(yaml.SequenceNode, "!!seq", "a list") {
		return nil, false
	}
	before := len(f.faults)
	var all []promotion.NeededEvidence
	seen := map[promotion.NeededEvidence]bool{}
	for i := range f.node.Content {
		item := f.item(i)
		n, ok := item.neededEvidence()
		switch {
		case !ok:
		case seen[n]:
			item.fault(BadValue, "%s stands here twice", cut(n.String()))
		default:
			all = append(all, n)
			seen[n] = true
		}
	}
	return all, len(f.faults) == before
}

func (f field) neededEvidence() (n promotion.NeededEvidence, ok bool) {
	if f.node.Kind != yaml.MappingNode {
		n.Name, ok = f.text()
		return n, ok
	}
	before := len(f.faults)
	for _, m := range f.members("name", "environment") {
		text, _ := m.text()
		switch m.name {
		case "name":
			n.Name = text
		case "environment":
			n.Environment = text
		}
	}
	if n.Name == "" && len(f.faults) == before {
		f.fault(BadValue, "has no name: say what must have passed, such as integration-tests")
	}
	return n, len(f.faults) == before
}
