package promotion

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// recoveryLook is how often a rollback is looked at whose metrics are not back yet.
const recoveryLook = 30 * time.Second

// recovered asks that the metrics which policy names hold again, each for its whole time since the rollback is live. What is not
// known has not recovered. Past the time that policy allows it is blocked: the rollback has failed.
func (s *Service) recovered(ctx context.Context, f *situation) GateResult {
	var early time.Time // when the first of those that cannot hold yet can
	var broken, said, given []string
	for _, needed := range f.policy.Recovery {
		if from := f.LiveAt.Add(needed.Threshold.For); f.now.Before(from) {
			early = earliest(early, from)
			broken, said = append(broken, needed.String()), append(said, fmt.Sprintf("%s can be told at %s", needed, clock(from)))
			continue
		}
		if r := s.keptTo(ctx, needed, f.now); r.Verdict != Pass {
			broken, said = append(broken, needed.String()), append(said, r.Reason)
			continue
		}
		given = append(given, needed.String())
	}
	inputs := map[string]any{"live_at": f.LiveAt, "recovered": given, "broken": broken}
	if len(broken) == 0 {
		return pass("recovered: %s", strings.Join(given, ", ")).with(inputs)
	}
	deadline := f.recoverBy()
	if !f.now.Before(deadline) {
		return block("Still broken: %s.", strings.Join(said, "; ")).with(inputs)
	}
	next := earliest(earliest(early, f.now.Add(recoveryLook)), deadline)
	return until(next, wait("Not recovered yet: %s. It has failed when it has not by %s.", strings.Join(said, "; "), clock(deadline))).with(inputs)
}

// recoverBy is when a rollback has failed that has not recovered.
func (f *situation) recoverBy() time.Time {
	within := f.policy.RecoverWithin
	for _, needed := range f.policy.Recovery {
		within = max(within, needed.Threshold.For)
	}
	return f.LiveAt.Add(within)
}

// failUnrecovered says of a rollback that runs healthily, and has not brought back what it should, that it failed. The sentence
// names no values, so that it changes only when something else is broken; the gate has them.
func (f *situation) failUnrecovered() {
	if !f.progress.live || f.progress.failure != "" || f.LiveAt.IsZero() {
		return
	}
	for _, g := range holding(f.gates, PhaseVerify) {
		if broken, _ := g.Inputs["broken"].([]string); g.Verdict == Block {
			f.progress.failure = "It runs and is healthy, and has not recovered: " + strings.Join(broken, ", ")
		}
	}
}

// verified says what a promotion was verified by.
func (f *situation) verified() string {
	text := fmt.Sprintf("healthy with these digests for %s", f.policy.Soak)
	for _, g := range f.gates {
		if g.Phase == PhaseVerify && g.Verdict == Pass {
			text += "; " + g.Reason
		}
	}
	return text
}
