package promotion

import (
	"fmt"
	"strings"
	"time"
)

// waiting says in one sentence what the promotion waits for and who must act.
func (f *situation) waiting() string {
	switch f.State() {
	case StateRequested:
		if f.Behind != 0 {
			return f.inQueue()
		}
		return explain("", holding(f.gates, PhaseOpen))
	case StateOpen:
		if until := f.mergerUnknownUntil(); !until.IsZero() {
			return fmt.Sprintf("main has its content since %s; Sluice asks the host until %s who merged it.", short(f.onMain.Commit.SHA), until.UTC().Format(time.TimeOnly+" MST"))
		}
		if held := holding(f.gates, PhaseMerge); len(held) > 0 {
			return explain("", held)
		}
		if f.policy.AutomaticMerge || f.MergeStands() {
			return "Sluice merges it now."
		}
		return fmt.Sprintf("Nothing holds it: somebody merges pull request #%d, here or at the host.", f.Number)
	case StateMerged:
		return f.waitingForSync()
	case StateSyncing:
		return "The cluster rolls it out. " + f.messages()
	case StateLive:
		if held := holding(f.gates, PhaseVerify); len(held) > 0 {
			return explain("It runs and is healthy. ", held)
		}
		return fmt.Sprintf("It runs and is healthy; it counts as verified when it stays so for %s.", f.policy.Soak)
	case StateFailed:
		return f.Failure
	}
	return ""
}

func (f *situation) waitingForSync() string {
	if len(f.deployments) == 0 {
		return fmt.Sprintf("No Argo CD Application deploys %s from this repository: nothing follows the merge.", f.Target.Path)
	}
	if !f.policy.SyncBySluice && len(f.pauses) > 0 {
		return "Merged, and not synced: " + f.pauses[0].says()
	}
	if !f.policy.SyncBySluice {
		return "Argo CD has to see the merge and sync it."
	}
	if held := holding(f.gates, PhaseSync); len(held) > 0 {
		return explain("Merged, but the sync is held: ", held)
	}
	return "Sluice starts the sync now."
}

func (f *situation) messages() string {
	var parts []string
	for _, d := range f.deployments {
		if d.Message != "" {
			parts = append(parts, d.Message)
		}
	}
	return strings.Join(parts, " ")
}

func explain(prefix string, held []GateResult) string {
	if len(held) == 0 {
		return ""
	}
	return prefix + held[0].Reason
}

// needs names what only a person can do for the promotion, empty when nobody has to do anything.
func (f *situation) needs() string {
	phase, mine := PhaseOpen, false
	switch f.State() {
	case StateRequested:
	case StateOpen:
		phase, mine = PhaseMerge, !f.policy.AutomaticMerge && !f.MergeStands()
	case StateMerged:
		phase = PhaseSync
	default:
		return ""
	}
	held := holding(f.gates, phase)
	switch {
	case len(held) == 0 && mine:
		return "merge"
	case len(held) == 0:
		return ""
	case held[0].Gate == GateApprovals || held[0].Verdict == Block:
		return held[0].Gate
	}
	return ""
}

// needsSomebody says so, once for each need of each head.
func (f *situation) needsSomebody() Notification {
	return f.notification(NotifyPromotionNeeds, f.needs()+" "+f.HeadSHA, f.waiting())
}
