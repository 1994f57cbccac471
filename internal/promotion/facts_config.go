package promotion

import (
	"slices"

	"github.com/sluicehq/sluice/internal/rollback"
)

// configFacts says whether what the candidate refers to would be there after the step. With images alone the
// configuration of today stays, and yet the old code wants what its own configuration named.
func configFacts(st goingBack, c ClusterFacts, g *gathered) {
	if st.old == nil || st.back == nil {
		g.Config.OldManifests = rollback.Missing
		g.Unread = append(g.Unread, st.problem)
		return
	}
	g.Config.OldManifests = rollback.Recorded
	g.Config.Refs, g.Config.APIs = []rollback.Ref{}, []rollback.API{}
	for _, r := range st.wantedRefs() {
		g.Config.Refs = append(g.Config.Refs, rollback.Ref{Kind: r.Kind, Name: r.Name, Key: r.Key, Optional: r.Optional, State: st.refState(r, c)})
	}
	for _, api := range st.back.APIs {
		served := c.APIs[api]
		if served == "" {
			served = rollback.Unread
		}
		g.Config.APIs = append(g.Config.APIs, rollback.API{API: api, Served: served})
	}
}

// wantedRefs are the references of what would be rendered, and of the configuration that the candidate was made for.
func (st goingBack) wantedRefs() []ObjectRef {
	refs := slices.Clone(st.back.Refs)
	if st.way == ImagesOnly {
		refs = append(refs, st.old.Refs...)
	}
	slices.SortFunc(refs, compareRefs)
	return slices.Compact(refs)
}

// refState looks at what would be rendered first: that is in the cluster after the step, whatever is there now.
func (st goingBack) refState(r ObjectRef, c ClusterFacts) rollback.State {
	keys, rendered := st.back.Provides[r.object()]
	switch {
	case rendered && (r.Key == "" || slices.Contains(keys, r.Key)):
		return rollback.Present
	case rendered:
		return rollback.KeyAbsent
	case c.Refs[r] != "":
		return c.Refs[r]
	}
	return rollback.Unread
}
