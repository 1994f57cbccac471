package promotion

import (
	"fmt"
	"slices"
	"time"
)

// The gates, by the names that policy, API and pages use.
const (
	GatePolicy             = "policy"
	GateImmutableReference = "immutable-reference"
	GateArtifactAvailable  = "artifact-available"
	GateUpstreamVerified   = "upstream-verified"
	GateRenders            = "renders"
	GatePlaintextSecret    = "no-plaintext-secret"
	GateContent            = "content"
	GateApprovals          = "approvals"
	GateSyncWindow         = "sync-window"
	GateRollbackSafe       = "rollback-safe"
	GateDeletions          = "deletions"
	GateBranchProtected    = "branch-protected"
	GateServerDryRun       = "server-dry-run"
	GateEvidence           = "evidence"
	GateHold               = "hold"
	GateConcurrency        = "concurrency"
	GateRecovered          = "recovered"
	GateProjectWindow      = "project-window" // of the engine: Sluice cannot open it
)

// Phase is the moment that a gate guards.
type Phase string

// The phases: before the pull request, before its merge, before the sync, before it counts as verified.
const (
	PhaseOpen   Phase = "open"
	PhaseMerge  Phase = "merge"
	PhaseSync   Phase = "sync"
	PhaseVerify Phase = "verify"
)

// Verdict is a gate's answer.
type Verdict string

// The verdicts. A gate that cannot be evaluated blocks and says why.
const (
	Pass  Verdict = "pass"
	Wait  Verdict = "wait"
	Block Verdict = "block"
)

// GateResult is one gate's verdict on one promotion, with its stored inputs.
type GateResult struct {
	Gate        string
	Phase       Phase
	Mode        Mode
	Verdict     Verdict
	Reason      string
	Until       time.Time // when a wait can change by itself; zero when unknown
	Inputs      map[string]any
	Override    int64 // that lets it through although the verdict is not pass; zero without one
	EvaluatedAt time.Time
}

// Holds tells whether the result stops the promotion.
func (g GateResult) Holds() bool { return g.Mode == Enforce && g.Verdict != Pass && g.Override == 0 }

// holding returns the results of a phase that stop the promotion.
func holding(results []GateResult, phase Phase) []GateResult {
	var held []GateResult
	for _, g := range results {
		if g.Phase == phase && g.Holds() {
			held = append(held, g)
		}
	}
	return held
}

// holdingMerge returns the results that keep a change from being merged.
func holdingMerge(results []GateResult) []GateResult {
	return append(holding(results, PhaseOpen), holding(results, PhaseMerge)...)
}

func pass(format string, args ...any) GateResult {
	return GateResult{Verdict: Pass, Reason: fmt.Sprintf(format, args...)}
}

func wait(format string, args ...any) GateResult {
	return GateResult{Verdict: Wait, Reason: fmt.Sprintf(format, args...)}
}

func block(format string, args ...any) GateResult {
	return GateResult{Verdict: Block, Reason: fmt.Sprintf(format, args...)}
}

func (g GateResult) with(inputs map[string]any) GateResult {
	g.Inputs = inputs
	return g
}

// InOrder sorts results as people read them: by phase, and within it as the gates are judged.
func InOrder(results []GateResult) []GateResult {
	gates := (&Service{}).gates()
	place := func(r GateResult) int {
		return slices.IndexFunc(gates, func(g gate) bool { return g.name == r.Gate && g.phase == r.Phase })
	}
	slices.SortStableFunc(results, func(a, b GateResult) int { return place(a) - place(b) })
	return results
}
