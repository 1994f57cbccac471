package promotion

import (
	"slices"

	"github.com/sluicehq/sluice/internal/rollback"
)

// dependencyFacts says how the secrets do that controllers write, and what was attested. Where the policy does not say what has to be,
// that is not configured, and so neither unknown nor fine: the check is listed as unchecked, unless something else of it was not read.
func dependencyFacts(st goingBack, c ClusterFacts, policy EnvironmentPolicy, g *gathered) {
	d := st.attested.dependency(policy)
	d.Targets, d.Metrics = st.declared.targets, st.declared.metrics
	unread := st.back == nil || st.declared.unknown()
	if st.back != nil {
		d.ExternalSecrets, d.SealedSecrets = []rollback.ExternalSecret{}, []rollback.SealedSecret{}
		for _, name := range st.back.ExternalSecrets {
			e, read := c.ExternalSecrets[name]
			if !read {
				e = rollback.ExternalSecret{Name: name, StoreReady: rollback.Unread, RemoteKey: rollback.Unread}
			}
			unread = unread || e.StoreReady == rollback.Unread || e.RemoteKey == rollback.Unread
			d.ExternalSecrets = append(d.ExternalSecrets, e)
		}
		for _, name := range st.back.SealedSecrets {
			e, read := c.SealedSecrets[name]
			if !read {
				e = rollback.SealedSecret{Name: name, Decryptable: rollback.Unread}
			}
			unread = unread || e.Decryptable == rollback.Unread
			d.SealedSecrets = append(d.SealedSecrets, e)
		}
	}
	g.Dependency = d
	if !unread && slices.Contains([]rollback.State{d.Messages, d.Cache, d.ExternalEffects}, rollback.NotAsked) {
		g.Unchecked = append(g.Unchecked, rollback.DependencyRecoverable)
	}
}
