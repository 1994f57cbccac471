package policy

import (
	"slices"

	"github.com/sluicehq/sluice/internal/promotion"
)

// gates are all gates there are.
var gates = []string{
	promotion.GatePolicy, promotion.GateImmutableReference, promotion.GateArtifactAvailable, promotion.GateUpstreamVerified,
	promotion.GateRenders, promotion.GatePlaintextSecret, promotion.GateContent, promotion.GateApprovals,
	promotion.GateSyncWindow, promotion.GateRollbackSafe, promotion.GateDeletions, promotion.GateBranchProtected,
	promotion.GateServerDryRun, promotion.GateEvidence, promotion.GateHold,
	promotion.GateConcurrency, promotion.GateProjectWindow, promotion.GateRecovered,
}

// modes has a setting for each gate.
func modes(prefix string) []setting {
	strictness := []promotion.Mode{promotion.Off, promotion.Report, promotion.Enforce}
	var all []setting
	for _, gate := range gates {
		all = append(all, setting{
			key:  prefix + gate,
			show: func(p *promotion.EnvironmentPolicy) string { return string(p.Mode(gate)) },
			read: func(f field) (value, bool) {
				word, ok := f.choice(words(strictness)...)
				mode := promotion.Mode(word)
				return value{
					set: func(p *promotion.EnvironmentPolicy) { p.Modes[gate] = mode },
					looser: func(than *promotion.EnvironmentPolicy) bool {
						return slices.Index(strictness, mode) < slices.Index(strictness, than.Mode(gate))
					},
					text: word,
				}, ok
			},
		})
	}
	return all
}
