package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/promotion"
)

// application is what an application's own file says.
type application struct {
	environments named[layer]
	windows      []selected
	database     promotion.Database
}

func readApplication(s *source, text string) application {
	var a application
	f, ok := s.parse(text)
	if !ok {
		return a
	}
	members := f.members("version", "database", "environments", "windows", "helm")
	for _, m := range members {
		if m.name == "version" && !m.version() {
			return a
		}
	}
	for _, m := range members {
		switch m.name {
		case "database":
			if word, ok := m.choice(string(promotion.DatabaseNone), string(promotion.DatabasePostgres)); ok {
				a.database = promotion.Database(word)
			}
		case "environments":
			a.environments = m.environments(noRank)
		case "windows":
			a.windows = m.windows("environments", "clusters")
		case "helm":
			m.helm()
		}
	}
	return a
}

// of is what the file says of an environment, of each setting what is said most specifically.
func (a application) of(environment string) layer {
	var last layer
	for l := range a.environments.of(environment) {
		for _, s := range l {
			same := func(other said) bool { return other.setting == s.setting }
			if i := slices.IndexFunc(last, same); i >= 0 {
				last[i] = s
			} else {
				last = append(last, s)
			}
		}
	}
	return last
}

// tighten makes a policy of the root what the application's file says, and returns what it left out: settings that would be looser
// than the root lets them be.
func (l layer) tighten(p *promotion.EnvironmentPolicy, loosen map[string]bool) (left layer) {
	for _, s := range l {
		if s.looser(p) && !loosen[s.key] {
			left = append(left, s)
			continue
		}
		s.set(p)
	}
	return left
}

// checkLoosening notes what an application's file may not say. A pattern may match environments that no policy file names; it is
// held against those that one does and against the well-known ones, and whatever else it meets gets the stricter of the two.
func (r *rules) checkLoosening(s *source, name string) {
	a := r.own[name]
	noted := map[string]bool{} // by path: a pattern is looser than the root for one environment or for many
	for _, environment := range r.environmentsOf(name) {
		p := r.ofRoot(name, environment)
		for _, loose := range a.of(environment).tighten(&p, r.loosen) {
			if noted[loose.path] {
				continue
			}
			noted[loose.path] = true
			s.fault(loose.line, LooserThanRoot,
				"%s: %s is looser than the root's policy for %s, which has %s; an application's file may only be stricter: to let it be looser, add %s to the list loosen in the root's %s",
				loose.path, loose.text, environment, loose.show(&p), loose.key, File)
		}
	}
}

// environmentsOf lists the environments that an application's file is held against.
func (r *rules) environmentsOf(name string) []string {
	a := r.own[name]
	environments := map[string]bool{}
	add := func(n named[layer]) {
		for environment := range n.exact {
			environments[environment] = true
		}
		for _, p := range n.patterns {
			environments[strings.NewReplacer("*", "x", "?", "x").Replace(p.text)] = true // one that it matches
		}
	}
	add(a.environments)
	if len(a.environments.patterns) > 0 {
		for _, known := range []string{"dev", "test", "staging", "prod"} {
			environments[known] = true
		}
		add(r.environments)
		for n := range r.applications.of(name) {
			add(n)
		}
	}
	return slices.Sorted(maps.Keys(environments))
}
