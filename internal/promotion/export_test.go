package promotion

import "github.com/sluicehq/sluice/internal/rollback"

// TrafficFacts reckons what is known of traffic when a target would render back, renders now and runs in a cluster, and what is
// worth knowing.
func TrafficFacts(back, now *Needs, c ClusterFacts) (rollback.Traffic, []string) {
	var g gathered
	trafficFacts(goingBack{back: back, now: now}, c, &g)
	return g.Traffic, g.Notes
}
