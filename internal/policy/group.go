package policy

import (
	"fmt"
	"slices"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/window"
)

// group is a list of windows that must be open by itself.
type group struct {
	of      string // whose its allow windows are, in words
	windows []window.Window
}

// groups are the windows for a target: for each cluster those of the root's file, and those of the application. A deny window
// stands in every group, since it closes them all; so there are as many groups as there are different lists of allow windows,
// and at least one.
func (r *rules) groups(t promotion.Target, clusters []string) []group {
	var allow []chosen
	var deny []*selected
	for _, windows := range [][]selected{r.windows, r.own[t.Application].windows} {
		for _, c := range choose(windows, t, clusters) {
			var allowing []*selected
			for _, w := range c.windows {
				switch {
				case w.Kind == window.Allow:
					allowing = append(allowing, w)
				case !slices.Contains(deny, w):
					deny = append(deny, w)
				}
			}
			known := func(other chosen) bool { return slices.Equal(other.windows, allowing) }
			if len(allowing) > 0 && !slices.ContainsFunc(allow, known) {
				allow = append(allow, chosen{c.of, allowing})
			}
		}
	}
	if len(allow) == 0 {
		allow = []chosen{{}}
	}
	groups := make([]group, len(allow))
	for i, c := range allow {
		groups[i].of = c.of
		for _, w := range slices.Concat(c.windows, deny) {
			groups[i].windows = append(groups[i].windows, w.Window)
		}
	}
	return groups
}

// chosen are windows of one file for a target in one cluster.
type chosen struct {
	of      string
	windows []*selected
}

// choose picks windows by their selectors. With no cluster known, the target may be in any that the windows name, or in another.
func choose(windows []selected, t promotion.Target, clusters []string) []chosen {
	pick := func(of string, here func(patterns []string) bool) chosen {
		c := chosen{of: of}
		for i, w := range windows {
			if selects(w.applications, t.Application) && selects(w.environments, t.Environment) && here(w.clusters) {
				c.windows = append(c.windows, &windows[i])
			}
		}
		return c
	}
	var all []chosen
	for _, cluster := range clusters {
		all = append(all, pick(" for cluster "+cluster, func(patterns []string) bool { return selects(patterns, cluster) }))
	}
	if len(clusters) > 0 {
		return all
	}
	all = append(all, pick("", func(patterns []string) bool { return patterns == nil }))
	for _, w := range windows {
		if w.clusters != nil {
			all = append(all, pick(fmt.Sprintf(" for clusters %s, and no cluster is known to run this target", listed(w.clusters)),
				func(patterns []string) bool { return patterns == nil || slices.Equal(patterns, w.clusters) }))
		}
	}
	return all
}

// selects tells whether one of the patterns matches; without any, all names are meant.
func selects(patterns []string, name string) bool {
	return patterns == nil || slices.ContainsFunc(patterns, func(p string) bool { return matches(p, name) })
}
