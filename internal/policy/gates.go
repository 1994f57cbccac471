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
	var all []setting
	for _, gate := range gates {
		all = append(all, mode(prefix+gate, func(p *promotion.EnvironmentPolicy) promotion.Mode { return p.Mode(gate) },
			func(p *promotion.EnvironmentPolicy, m promotion.Mode) { p.Modes[gate] = m }))
	}
	return all
}

// mode is a setting of what a verdict does.
func mode(key string, get func(*promotion.EnvironmentPolicy) promotion.Mode, set func(*promotion.EnvironmentPolicy, promotion.Mode)) setting {
	strictness := []promotion.Mode{promotion.Off, promotion.Report, promotion.Enforce}
	return setting{
		key:  key,
		show: func(p *promotion.EnvironmentPolicy) string { return string(get(p)) },
		read: func(f field) (value, bool) {
			word, ok := f.choice(words(strictness)...)
			m := promotion.Mode(word)
			return value{
				set: func(p *promotion.EnvironmentPolicy) { set(p, m) },
				looser: func(than *promotion.EnvironmentPolicy) bool {
					return slices.Index(strictness, m) < slices.Index(strictness, get(than))
				},
				text: word,
			}, ok
		},
	}
}
