package promotion_test

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/rollback"
)

const (
	oldImage = "registry.example.com/web:1.1.0@sha256:aaaa"
	newImage = "registry.example.com/web@sha256:bbbb"
)

// rolloutOf is a Rollout of four pods that renders an image from a template.
func rolloutOf(strategy, image, template string) *promotion.Needs {
	return rendering(deployment(func(w *promotion.Workload) {
		w.Kind, w.Strategy, w.Images, w.Template = "Rollout", strategy, []string{image}, template
	}))
}

// switching is one from 1.1.0, which is stable and has all its pods, to 1.2.0.
func switching(changes ...func(*promotion.Switch)) promotion.Switch {
	s := promotion.Switch{Cluster: "eu", Read: true, Stable: "old", Current: "new", Step: 1, Steps: 4, Weight: some(20),
		Stacks: []promotion.Stack{{Hash: "old", Images: []string{"registry.example.com/web@sha256:aaaa"}, Ready: 4}, {Hash: "new", Images: []string{newImage}, Ready: 1}}}
	for _, change := range changes {
		change(&s)
	}
	return s
}

func blueGreen(s *promotion.Switch) {
	s.BlueGreen, s.Active, s.Preview, s.Weight, s.Steps, s.Step, s.Pause = true, "old", "new", nil, 0, 0, "BlueGreenPause"
}

// through: the new one is stable, and the old one's pods are about to go.
func through(s *promotion.Switch) {
	s.Stable = "new"
	if s.BlueGreen {
		s.Active = "new"
	}
	s.Stacks[0].Leaving = true
}

func TestSwitchesOfArgoRollouts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		strategy, template string
		switches           []promotion.Switch
		room               rollback.State
		stack              rollback.State
		overall            rollback.State // of the check
		says               []string
	}{
		"in the middle of a canary": {"Canary", "as it was", []promotion.Switch{switching()}, rollback.No, rollback.Running, rollback.Yes,
			[]string{"middle of a canary, 1 of 4 steps done: 1.2.0 is new, 1.1.0 is stable, and 20 % of the requests go to the new one", "takes only the new pods away"}},
		"the same images with another configuration": {"Canary", "another", []promotion.Switch{switching()}, rollback.No, rollback.ScaledDown, rollback.No,
			[]string{"going back ends that, and starts pods of what serves now"}},
		"some pods of the stable ones are gone": {"Canary", "as it was", []promotion.Switch{switching(func(s *promotion.Switch) { s.Stacks[0].Ready = 3 })}, rollback.Yes,
			rollback.ScaledDown, rollback.Yes, []string{"middle of a canary"}},
		"another version is stable": {"Canary", "as it was", []promotion.Switch{switching(func(s *promotion.Switch) { s.Stacks[0].Images = []string{"web:0.9"} })}, rollback.Yes,
			rollback.ScaledDown, rollback.Yes, []string{"stack old (web:0.9) is stable", "begins a canary of its own"}},
		"a canary that was aborted": {"Canary", "as it was", []promotion.Switch{switching(func(s *promotion.Switch) { s.Aborted = true })}, rollback.No, rollback.Running, rollback.Yes,
			[]string{"the canary was aborted: every request goes to 1.1.0"}},
		"paused by hand": {"Canary", "as it was", []promotion.Switch{switching(func(s *promotion.Switch) { s.Held = true })}, rollback.Yes, rollback.Running, rollback.Unknown,
			[]string{"paused by hand"}},
		"a canary that is through":   {"Canary", "as it was", []promotion.Switch{switching(through)}, rollback.No, rollback.ScaledDown, rollback.No, nil},
		"a preview":                  {"BlueGreen", "as it was", []promotion.Switch{switching(blueGreen)}, rollback.No, rollback.Running, rollback.Yes, []string{"1.1.0 is active, 1.2.0 is in preview; it waits (BlueGreenPause)", "takes only the new pods away"}},
		"blue-green that is through": {"BlueGreen", "as it was", []promotion.Switch{switching(blueGreen, through)}, rollback.Yes, rollback.ScaledDown, rollback.Yes, []string{"1.2.0 is active, nothing else is in preview"}},
		"unread":                     {"Canary", "as it was", []promotion.Switch{{Cluster: "eu"}}, rollback.Yes, rollback.Unread, rollback.Unknown, nil},
		"unread in one of two":       {"Canary", "as it was", []promotion.Switch{switching(), {Cluster: "us"}}, rollback.Yes, rollback.Unread, rollback.Unknown, []string{"cluster eu"}},
		"nobody was asked":           {"Canary", "as it was", nil, rollback.Yes, rollback.Unread, rollback.Unknown, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := live
			l.Room, l.Switches = test.room, test.switches
			got, notes := promotion.SwitchFacts(rolloutOf(test.strategy, oldImage, "as it was"), rolloutOf(test.strategy, oldImage, test.template),
				rolloutOf(test.strategy, newImage, "new"), promotion.ClusterFacts{Workloads: map[string]promotion.LiveWorkload{"Rollout/web": l}})
			if got.OldStack != test.stack {
				t.Errorf("the old stack is %s, want %s", got.OldStack, test.stack)
			}
			if v := rollback.Evaluate(rollback.Facts{Traffic: got}).Predicates.TrafficSwitchable; v.Value != test.overall {
				t.Errorf("the check is %s, want %s: %v", v.Value, test.overall, v.Reasons)
			}
			said := strings.Join(notes, "\n")
			if len(test.says) == 0 && said != "" {
				t.Errorf("it says %q", said)
			}
			for _, want := range test.says {
				if !strings.Contains(said, want) {
					t.Errorf("%q does not say %q", said, want)
				}
			}
		})
	}
}

// TestAStackThatRunsIsNotThatOfARollout: what is rolled beside it needs what a rollout needs.
func TestAStackThatRunsIsNotThatOfARollout(t *testing.T) {
	t.Parallel()
	back := rolloutOf("Canary", oldImage, "as it was")
	back.Workloads = append(back.Workloads, deployment(func(w *promotion.Workload) { w.Name = "worker" }))
	l := live
	l.Switches = []promotion.Switch{switching()}
	got, _ := promotion.SwitchFacts(back, back, nil, promotion.ClusterFacts{Workloads: map[string]promotion.LiveWorkload{"Rollout/web": l, "Deployment/worker": live}})
	if got.OldStack != rollback.ScaledDown {
		t.Errorf("the old stack is %s", got.OldStack)
	}
}
