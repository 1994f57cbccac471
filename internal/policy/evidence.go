package policy

import (
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/sluicehq/sluice/internal/promotion"
)

// evidence is stricter when more is asked for, or the same for longer. A list replaces a less specific one whole, so an empty one asks for none.
func evidence(key string, one func(field) (promotion.NeededEvidence, bool), at func(*promotion.EnvironmentPolicy) *[]promotion.NeededEvidence) setting {
	text := func(needed []promotion.NeededEvidence) string {
		texts := make([]string, len(needed))
		for i, n := range needed {
			texts[i] = n.String()
		}
		return "[" + strings.Join(texts, ", ") + "]"
	}
	return setting{
		key:  key,
		show: func(p *promotion.EnvironmentPolicy) string { return text(*at(p)) },
		read: func(f field) (value, bool) {
			own, ok := f.evidence(one)
			return value{
				set: func(p *promotion.EnvironmentPolicy) { *at(p) = slices.Clone(own) },
				looser: func(than *promotion.EnvironmentPolicy) bool {
					return slices.ContainsFunc(*at(than), func(n promotion.NeededEvidence) bool {
						return !slices.ContainsFunc(own, func(o promotion.NeededEvidence) bool { return o.Covers(n) })
					})
				},
				text: text(own),
			}, ok
		},
	}
}

// evidence reads a list of names, of names with the environment that they must come from, and of what Sluice is to have seen in one.
func (f field) evidence(one func(field) (promotion.NeededEvidence, bool)) ([]promotion.NeededEvidence, bool) {
	if !f.is(yaml.SequenceNode, "!!seq", "a list") {
		return nil, false
	}
	before := len(f.faults)
	var all []promotion.NeededEvidence
	seen := map[promotion.NeededEvidence]bool{}
	for i := range f.node.Content {
		item := f.item(i)
		n, ok := one(item)
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
	if f.isMetric() {
		return f.metric()
	}
	before := len(f.faults)
	kinds := 0
	for _, m := range f.members("name", "environment", "healthy_for", "drift_free_for") {
		switch m.name {
		case "name":
			n.Name, _ = m.text()
			kinds++
		case "environment":
			n.Environment, _ = m.text()
		case "healthy_for":
			n.HealthyFor = m.someTime()
			kinds++
		case "drift_free_for":
			n.DriftFreeFor = m.someTime()
			kinds++
		}
	}
	switch {
	case len(f.faults) > before:
	case kinds == 0:
		f.fault(BadValue, "has no name: say what must have passed, such as integration-tests, or healthy_for or drift_free_for with a time")
	case kinds > 1:
		f.fault(BadValue, "asks for several things: give name, healthy_for and drift_free_for an entry each")
	case n.Name == "" && n.Environment == "":
		f.fault(BadValue, "has no environment: say where Sluice is to look, such as staging")
	}
	return n, len(f.faults) == before
}

// someTime is a time that is longer than none.
func (f field) someTime() time.Duration {
	d, ok := f.duration()
	if ok && d <= 0 {
		f.fault(BadValue, "%s is no time: say how long, such as 24h", f.node.Value)
	}
	return d
}
