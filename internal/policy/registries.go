package policy

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/promotion"
)

// repositoryPrefix is a registry with or without the first elements of a path, and neither scheme nor tag.
var repositoryPrefix = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$`)

// registries replace each other whole, so that an image that runs can be traced back to one that was posted.
func registries(key string) setting {
	text := func(m map[string]string) string {
		var pairs []string
		for _, from := range slices.Sorted(maps.Keys(m)) {
			pairs = append(pairs, from+": "+m[from])
		}
		return "{" + strings.Join(pairs, ", ") + "}"
	}
	return setting{
		key:  key,
		show: func(p *promotion.EnvironmentPolicy) string { return text(p.Registries) },
		read: func(f field) (value, bool) {
			own, ok := f.registries()
			return value{
				set:    func(p *promotion.EnvironmentPolicy) { p.Registries = maps.Clone(own) },
				looser: func(than *promotion.EnvironmentPolicy) bool { return !maps.Equal(own, than.Registries) },
				text:   text(own),
			}, ok
		},
	}
}

func (f field) registries() (map[string]string, bool) {
	before := len(f.faults)
	own, postedAs := map[string]string{}, map[string]string{}
	for _, m := range f.members() {
		pulled, ok := m.text()
		switch other, taken := postedAs[pulled]; {
		case !ok:
		case !repositoryPrefix.MatchString(m.name):
			m.fault(BadValue, "%s is no prefix of repositories such as ghcr.io/acme", cut(m.name))
		case !repositoryPrefix.MatchString(pulled):
			m.fault(BadValue, "%s is no prefix of repositories such as eu.registry.example/acme", cut(pulled))
		case taken:
			m.fault(BadValue, "%s is where %s is pulled from already: which of the two runs could not be told", pulled, other)
		default:
			own[m.name], postedAs[pulled] = pulled, m.name
		}
	}
	return own, len(f.faults) == before
}
