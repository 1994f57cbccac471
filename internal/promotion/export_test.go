package promotion

import "github.com/sluicehq/sluice/internal/rollback"

// TrafficFacts reckons what is known of traffic when a target would render back, renders now and runs in a cluster, and what is
// worth knowing.
func TrafficFacts(back, now *Needs, c ClusterFacts) (rollback.Traffic, []string) {
	var g gathered
	trafficFacts(goingBack{back: back, now: now}, c, &g)
	return g.Traffic, g.Notes
}

// SwitchFacts reckons the same of a candidate whose configuration is known, with what people are told.
func SwitchFacts(old, back, now *Needs, c ClusterFacts) (rollback.Traffic, []string) {
	var g gathered
	trafficFacts(goingBack{old: old, back: back, now: now, current: Release{Version: "1.2.0"}, candidate: Release{Version: "1.1.0"}}, c, &g)
	return g.Traffic, g.Notes
}
