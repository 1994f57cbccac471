package promotion

import (
	"context"
	"time"
)

// syncWindow asks whether a change may reach the target now. An answer holds until the next edge of a window, less the
// time that must be left before it.
func (s *Service) syncWindow(_ context.Context, f *situation) GateResult {
	if f.rules.rules == nil {
		return block("there is no policy, so nothing says when changes may go out")
	}
	clusters := clustersOf(f.deployments, f.Target.ID)
	now := f.now
	if f.justMerged() {
		now = f.host.At
	}
	rules := f.rules.rules
	if f.Kind == KindRollback && f.policy.RollbackIgnoresWindows {
		rules = windowless{rules}
	}
	d := WindowOf(rules, f.freezes, f.Target, clusters, now)
	inputs := map[string]any{"window": d.By, "clusters": clusters}
	if !d.Next.IsZero() {
		inputs["changes"] = d.Next
	}
	if !d.Open {
		return until(d.Next, wait("%s.%s", d.Reason, opens(d.Next))).with(inputs)
	}
	if d.Next.IsZero() {
		return pass("%s", d.Reason).with(inputs)
	}
	last := d.Next.Add(-max(f.policy.WindowLead, f.policy.WindowLeft))
	if !now.Before(last) {
		return until(d.Next, wait("the window closes at %s, and less than %s is left of it.", clock(d.Next), max(f.policy.WindowLead, f.policy.WindowLeft))).with(inputs)
	}
	return until(last, pass("%s, until %s", d.Reason, clock(last))).with(inputs)
}

func until(t time.Time, g GateResult) GateResult {
	g.Until = t
	return g
}

func opens(t time.Time) string {
	if t.IsZero() {
		return " It does not open again."
	}
	return " It opens at " + clock(t) + "."
}

func clock(t time.Time) string { return t.UTC().Format("Mon 2 Jan 2006 15:04 MST") }

// windowless are rules whose sync windows do not count. What somebody froze stays frozen.
type windowless struct{ Rules }

// Window implements Rules.
func (windowless) Window(Target, []string, time.Time) WindowDecision {
	return WindowDecision{Open: true, Reason: "the policy lets a rollback go out whatever the sync windows say"}
}
