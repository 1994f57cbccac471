package web

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/promotion"
)

// needView is a promotion that cannot go on without a person.
type needView struct {
	ID        int64
	Mark      mark
	What, Why string
}

// needsShown is how many needs stand open on the board; the rest is folded away.
const needsShown = 6

// needsView is what needs this person, so that it never hides the board.
type needsView struct {
	First, Rest []needView
	Count       int
}

func newNeedsView(all []needView) needsView {
	n := min(len(all), needsShown)
	return needsView{First: all[:n], Rest: all[n:], Count: len(all)}
}

// needs lists what waits for this person, failures first.
func needs(facts boardFacts, by promotion.Actor) []needView {
	var failed, waiting []needView
	for _, row := range facts.rows {
		for _, cell := range row.Cells {
			if cell.Open == nil {
				continue
			}
			p := *cell.Open
			what := fmt.Sprintf("%s %s to %s", p.Target.Application, carries(p), p.Target.Environment)
			v := needView{ID: p.ID, Mark: stateMark(p.State())}
			switch {
			case p.State() == promotion.StateFailed && by.Has(deciders...):
				v.What, v.Why = "Look after "+what, p.Failure
				failed = append(failed, v)
			case needsApproval(p, facts.gates[p.ID], by):
				v.What, v.Why = "Approve "+what, "asked for by "+p.RequestedBy
				waiting = append(waiting, v)
			case needsMerge(p, facts.gates[p.ID], by):
				v.What, v.Why = "Merge "+what, "every gate passes"
				waiting = append(waiting, v)
			}
		}
	}
	return append(failed, waiting...)
}

// needsApproval: approvals are all that is missing, and this person's would count.
func needsApproval(p promotion.Promotion, gates []promotion.GateResult, by promotion.Actor) bool {
	if p.State() != promotion.StateOpen || !by.Has(deciders...) || p.RequestedBy == by.Name {
		return false
	}
	return slices.ContainsFunc(gates, func(g promotion.GateResult) bool {
		return g.Gate == promotion.GateApprovals && g.Holds() && !approvedBy(g, by.Name)
	})
}

// needsMerge: nothing holds it, nobody asked for the merge, and Sluice does not do it by itself.
func needsMerge(p promotion.Promotion, gates []promotion.GateResult, by promotion.Actor) bool {
	if p.State() != promotion.StateOpen || !by.Has(deciders...) || p.MergeAskedBy != "" || p.MergeStands() || len(gates) == 0 {
		return false
	}
	return !slices.ContainsFunc(gates, promotion.GateResult.Holds) && !strings.HasPrefix(p.WaitsFor, "Sluice ")
}

// approvedBy reads the gate's stored inputs, which come back from the store as JSON does.
func approvedBy(g promotion.GateResult, name string) bool {
	switch by := g.Inputs["by"].(type) {
	case []string:
		return slices.Contains(by, name)
	case []any:
		return slices.Contains(by, any(name))
	}
	return false
}
