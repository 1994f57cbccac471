package promotion

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/rollback"
)

// Switch is how far a Rollout of Argo Rollouts has come, in one cluster, from one stack of pods to the next. Stacks are named by the hash
// of their pods.
type Switch struct {
	Cluster         string
	Read            bool // otherwise nothing else is known
	BlueGreen       bool // otherwise a canary
	Stable, Current string
	Active, Preview string // blue-green: where the Services lead; Preview is empty where there is none
	Step, Steps     int    // of a canary: how many are done of how many
	Weight          *int   // of a canary: per cent of the requests; nil when nothing says
	Pause           string // why the controller itself waits; empty when it does not
	Held            bool   // paused by hand: nothing moves until somebody resumes it
	Aborted         bool
	Stacks          []Stack
}

// Stack is one generation of a Rollout's pods.
type Stack struct {
	Hash    string
	Images  []string // of the containers, in their order
	Ready   int      // pods
	Leaving bool     // it is about to be taken away
}

// unfinished tells whether two stacks are in play.
func (s Switch) unfinished() bool {
	return s.Stable != s.Current || s.BlueGreen && s.Preview != "" && s.Active != s.Preview
}

// switchFacts says what a side by side rollout of the candidate meets in each cluster, and explains it.
func (st goingBack) switchFacts(w Workload, live LiveWorkload, t *rollback.Traffic, g *gathered) {
	if len(live.Switches) == 0 {
		t.OldStack = rollback.Unread
	}
	for _, s := range live.Switches {
		stack := st.oldStack(w, live, s)
		t.OldStack = worst([]rollback.State{rollback.Unread, rollback.ScaledDown, rollback.Running, rollback.NotUsed}, t.OldStack, stack)
		if !s.Read || s.Current == "" { // not there, or never looked at by its controller
			continue
		}
		t.Rollouts = append(t.Rollouts, rollback.Rollout{Cluster: s.Cluster, Name: w.Name, Stable: s.Stable, Current: s.Current, Active: s.Active,
			Preview: s.Preview, Aborted: s.Aborted, Held: s.Held})
		if said := st.switchSaid(w, s, stack); said != "" {
			g.Notes = append(g.Notes, said)
		}
	}
}

// oldStack says whether pods of exactly what is gone back to still run. The same images with another configuration are other pods.
func (st goingBack) oldStack(w Workload, live LiveWorkload, s Switch) rollback.State {
	if !s.Read {
		return rollback.Unread
	}
	wanted := w.Replicas
	if wanted == nil {
		wanted = live.Replicas
	}
	asItWas := st.old != nil && slices.ContainsFunc(st.old.Workloads, func(o Workload) bool { return o.key() == w.key() && o.Template == w.Template })
	same := 0
	runs := false
	for _, stack := range s.Stacks {
		if sameImages(stack.Images, w.Images) {
			same++
			runs = !stack.Leaving && wanted != nil && stack.Ready >= *wanted
		}
	}
	if asItWas && same == 1 && runs {
		return rollback.Running
	}
	return rollback.ScaledDown
}

func sameImages(a, b []string) bool {
	return len(a) > 0 && slices.EqualFunc(a, b, func(x, y string) bool { return withoutTag(x) == withoutTag(y) })
}

// switchSaid is the state of a switch, and what going back does to it; empty for a canary that is through.
func (st goingBack) switchSaid(w Workload, s Switch, old rollback.State) string {
	of := func(hash string) string { return st.stackSaid(w, s, hash) }
	var said string
	switch {
	case s.Aborted && s.BlueGreen:
		said = fmt.Sprintf("the switch was aborted: %s is active", of(s.Active))
	case s.Aborted:
		said = fmt.Sprintf("the canary was aborted: every request goes to %s", of(s.Stable))
	case s.BlueGreen && s.unfinished():
		said = fmt.Sprintf("%s is active, %s is in preview", of(s.Active), of(s.Current))
	case s.BlueGreen:
		said = fmt.Sprintf("%s is active, nothing else is in preview", of(s.Active))
	case s.unfinished():
		said = fmt.Sprintf("it is in the middle of a canary, %d of %d steps done: %s is new, %s is stable", s.Step, s.Steps, of(s.Current), of(s.Stable))
		if s.Weight != nil {
			said += fmt.Sprintf(", and %d %% of the requests go to the new one", *s.Weight)
		}
	case !s.Held:
		return ""
	default:
		said = of(s.Stable) + " is stable"
	}
	if s.Pause != "" {
		said += "; it waits (" + s.Pause + ")"
	}
	if s.Held {
		said += "; it is paused by hand, and nothing moves until somebody resumes it"
	}
	if s.unfinished() {
		said += "; " + goingBackDoes(s, old, st.serves(w, s))
	}
	return fmt.Sprintf("Rollout %s in cluster %s: %s", w.Name, s.Cluster, said)
}

// goingBackDoes explains what going back does while a switch is not through.
func goingBackDoes(s Switch, old rollback.State, serves bool) string {
	switch {
	case old == rollback.Running && serves:
		return "going back takes only the new pods away"
	case serves:
		return "going back ends that, and starts pods of what serves now"
	case s.BlueGreen:
		return "going back ends that, and puts another stack in preview"
	}
	return "going back ends that, and begins a canary of its own"
}

// serves tells whether what is gone back to has the images that serve now.
func (st goingBack) serves(w Workload, s Switch) bool {
	serving := s.Stable
	if s.BlueGreen {
		serving = s.Active
	}
	return slices.ContainsFunc(s.Stacks, func(k Stack) bool { return k.Hash == serving && sameImages(k.Images, w.Images) })
}

// stackSaid names a stack by its release where its images tell it.
func (st goingBack) stackSaid(w Workload, s Switch, hash string) string {
	i := slices.IndexFunc(s.Stacks, func(k Stack) bool { return k.Hash == hash })
	if i < 0 {
		return "stack " + hash
	}
	has := func(n *Needs) bool {
		return n != nil && slices.ContainsFunc(n.Workloads, func(o Workload) bool { return o.key() == w.key() && sameImages(o.Images, s.Stacks[i].Images) })
	}
	switch {
	case st.candidate.Version != "" && has(st.back):
		return st.candidate.Version
	case st.current.Version != "" && has(st.now):
		return st.current.Version
	}
	return fmt.Sprintf("stack %s (%s)", hash, strings.Join(s.Stacks[i].Images, ", "))
}
