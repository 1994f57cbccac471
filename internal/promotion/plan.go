package promotion

import (
	"context"
	"slices"
	"time"
)

// PlanRequest asks what would become of a promotion, without starting it.
type PlanRequest struct {
	Application, Environment, Release string
	Hotfix                            bool
	At                                time.Time // the moment to judge at; zero: now
}

// Plan is what every gate would say of a promotion.
type Plan struct {
	Target   Target
	Release  Release
	At       time.Time
	Gates    []GateResult
	Earliest time.Time // before which nothing can go out, by the sync windows; zero: they never open again
	Behind   int64     // the promotion that it would wait behind in the queue; zero when it would have its turn
	Waits    string    // what it would wait for, and who would have to act
	Diff     string
}

// Plan judges a promotion that nobody has asked for. It changes nothing.
func (s *Service) Plan(ctx context.Context, r PlanRequest) (Plan, error) {
	t, err := s.targetNamed(ctx, r.Application, r.Environment)
	if err != nil {
		return Plan{}, err
	}
	release, err := s.findRelease(ctx, PromoteRequest{Application: r.Application, Release: r.Release})
	if err != nil {
		return Plan{}, err
	}
	site, err := s.site(t)
	if err != nil {
		return Plan{}, err
	}
	p := Promotion{Target: t, Release: release, Kind: KindRelease, Hotfix: r.Hotfix, Decision: Requested, PullRequest: PullRequestNone}
	f := &situation{Promotion: &p, site: site, now: r.At}
	if f.now.IsZero() {
		f.now = s.Now()
	}
	if err := s.lookAtPlanned(ctx, f); err != nil {
		return Plan{}, err
	}
	f.gates = slices.DeleteFunc(s.evaluate(ctx, f), func(g GateResult) bool { return g.Gate == GateContent }) // of a pull request that is not there
	plan := Plan{Target: t, Release: release, At: f.now, Gates: f.gates, Earliest: f.now, Waits: f.waiting(), Diff: f.proposed.Diff}
	if len(holding(f.gates, PhaseOpen)) == 0 {
		plan.Waits = explain("", holding(f.gates, PhaseMerge))
	}
	if err := s.planQueue(ctx, p, &plan); err != nil {
		return Plan{}, err
	}
	if d := WindowOf(f.rules.rules, f.freezes, t, clustersOf(f.deployments, t.ID), f.now); !d.Open {
		plan.Earliest = d.Next
	}
	return plan, nil
}

func (s *Service) lookAtPlanned(ctx context.Context, f *situation) (err error) {
	if f.rules, err = s.rulesOf(ctx, s.Store, f.Target.Repository); err != nil {
		return err
	}
	f.policy = f.rules.rules.For(f.Target).Of(*f.Promotion)
	known, err := s.Store.Repository(ctx, f.Target.Repository)
	if err != nil {
		return err
	}
	f.head = known.Head
	if f.tree, err = f.site.Repository.Tree(ctx, f.head); err != nil {
		return err
	}
	if err := s.lookAtStore(ctx, f); err != nil {
		return err
	}
	return s.lookAtChange(ctx, f)
}
