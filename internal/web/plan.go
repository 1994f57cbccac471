package web

import (
	"context"
	"fmt"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// planView is what would become of a promotion that nobody has asked for yet.
type planView struct {
	When     string
	Refused  []string // why it could not even be asked for
	Said     string
	Earliest string
	Phases   []phaseView
	Diff     []diffLine
}

const minuteForm = "2006-01-02 15:04 UTC"

// foresee asks every gate. What refuses that, such as a policy that cannot be read, is the page's problem.
func (w *Web) foresee(ctx context.Context, v *promoteView, cell promotion.BoardCell, r promotion.Release) error {
	when, err := parseMoment(v.At)
	if err != nil {
		if v.Problem == nil {
			v.Problem = wrong("at", err.Error())
		}
		return nil
	}
	plan, err := w.useCases.Plan(ctx, promotion.PlanRequest{Application: r.Application, Environment: cell.Target.Environment, Release: fmt.Sprint(r.ID), Hotfix: v.Hotfix, At: when})
	if refused, ok := refusal(err); ok {
		if v.Problem == nil {
			v.Problem = refused
		}
		return nil
	} else if err != nil {
		return err
	}
	v.Plan = newPlanView(plan, !when.IsZero(), w.now())
	v.Plan.Refused = refusedAtOnce(cell, r, plan.Behind != 0)
	return nil
}

func newPlanView(p promotion.Plan, future bool, now time.Time) *planView {
	v := &planView{When: "if it were asked for now", Said: p.Waits, Phases: phases(promotion.InOrder(p.Gates), p.Target, now), Diff: changeLines(p.Diff)}
	if future {
		v.When = "as of " + p.At.UTC().Format(minuteForm)
	}
	if v.Said == "" {
		v.Said = "Nothing holds it."
	}
	switch {
	case p.Earliest.IsZero():
		v.Earliest = "The sync windows never let it out."
	case p.Earliest.After(p.At):
		v.Earliest = fmt.Sprintf("The sync windows let it out at %s at the earliest.", p.Earliest.UTC().Format(minuteForm))
	}
	return v
}

// refusedAtOnce says why asking for the promotion would be refused, or lead elsewhere.
func refusedAtOnce(cell promotion.BoardCell, r promotion.Release, waits bool) []string {
	var says []string
	environment := cell.Target.Environment
	if r.RejectedBy != "" {
		says = append(says, fmt.Sprintf("%s rejected %s everywhere: %s. Somebody has to reopen it first.", r.RejectedBy, r.Version, r.Rejection))
	}
	if cell.Desired != nil && cell.Desired.ID == r.ID {
		says = append(says, fmt.Sprintf("main already has %s in %s: there is nothing to promote.", r.Version, environment))
	}
	if p := cell.Open; p != nil && p.Open() && p.Kind != promotion.KindChange {
		if p.Release.ID == r.ID {
			says = append(says, fmt.Sprintf("promotion %d carries it there already: you are led to it.", p.ID))
		} else if !waits {
			says = append(says, fmt.Sprintf("promotion %d is open there with %s: finish or cancel it first, unless %s may replace it.", p.ID, p.Release.Version, r.Version))
		}
	}
	return says
}
