package policy

import (
	"maps"
	"slices"

	"github.com/sluicehq/sluice/internal/manifest"
	"github.com/sluicehq/sluice/internal/promotion"
)

// rules are the policy of one config repository, ready to be asked.
type rules struct {
	*rootFile
	own map[string]application // by name
}

var _ promotion.Rules = (*rules)(nil)

// Layout implements promotion.Rules.
func (r *rules) Layout() promotion.Layout {
	return promotion.Layout{Roots: slices.Clone(r.layout.Roots), Ranks: maps.Clone(r.layout.Ranks)}
}

// For implements promotion.Rules.
func (r *rules) For(t promotion.Target) promotion.EnvironmentPolicy {
	p := r.ofRoot(t.Application, t.Environment)
	own := r.own[t.Application]
	own.of(t.Environment).tighten(&p, r.loosen)
	p.Database = own.database
	if p.Approvals > 0 {
		p.ApproverRoles = rolesOf(&p)
	}
	return p
}

// ofRoot is what the root's file makes of a target: the default of the environment's rank, changed by what is said of the
// environment, and then by what is said of the application in it.
func (r *rules) ofRoot(application, environment string) promotion.EnvironmentPolicy {
	rank, said := r.layout.Ranks[environment]
	if !said {
		rank = manifest.Rank(environment)
	}
	p := promotion.DefaultPolicy(rank)
	for l := range r.environments.of(environment) {
		l.apply(&p)
	}
	for environments := range r.applications.of(application) {
		for l := range environments.of(environment) {
			l.apply(&p)
		}
	}
	return p
}

// Zones implements promotion.Rules.
func (r *rules) Zones() []string {
	zones := map[string]bool{}
	add := func(windows []selected) {
		for _, w := range windows {
			zones[w.Timezone] = true
		}
	}
	add(r.windows)
	for _, a := range r.own {
		add(a.windows)
	}
	return slices.Sorted(maps.Keys(zones))
}
