package web

import (
	"fmt"
	"net/url"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// phaseView is the gates of one phase.
type phaseView struct {
	Title, Summary string
	Gates          []gateView
}

type gateView struct {
	Name, Phase string
	Mark        mark
	Reason      string
	Until       moment
	ReportOnly  bool
	Holds       bool
	Override    int64 // that lets it through
	Next        link  // where somebody can do something about it
}

func phases(gates []promotion.GateResult, t promotion.Target, now time.Time) []phaseView {
	var views []phaseView
	for _, phase := range []struct {
		phase promotion.Phase
		title string
	}{{promotion.PhaseOpen, "To open the pull request"}, {promotion.PhaseMerge, "To merge"}, {promotion.PhaseSync, "To sync"}, {promotion.PhaseVerify, "To count as verified"}} {
		v := phaseView{Title: phase.title}
		holding := 0
		for _, g := range gates {
			if g.Phase != phase.phase {
				continue
			}
			if g.Holds() {
				holding++
			}
			v.Gates = append(v.Gates, gateView{Name: g.Gate, Phase: string(g.Phase), Mark: gateMark(g), Reason: g.Reason,
				Until: at(g.Until, now), ReportOnly: g.Mode == promotion.Report, Holds: g.Holds(), Override: g.Override, Next: aboutGate(g, t)})
		}
		if len(v.Gates) == 0 {
			continue
		}
		v.Summary = "nothing holds"
		if holding > 0 {
			v.Summary = fmt.Sprintf("%d of %d hold", holding, len(v.Gates))
		}
		views = append(views, v)
	}
	return views
}

// aboutGate leads to where what holds is seen or ended.
func aboutGate(g promotion.GateResult, t promotion.Target) link {
	switch {
	case !g.Holds():
	case g.Gate == promotion.GateHold:
		return link{Text: "The hold", URL: targetURL(t.Application, t.Environment)}
	case g.Gate == promotion.GateSyncWindow:
		return link{Text: "The calendar", URL: "/calendar?" + url.Values{"application": {t.Application}, "environment": {t.Environment}}.Encode()}
	case g.Gate == promotion.GatePolicy:
		return link{Text: "The set-up", URL: "/set-up"}
	}
	return link{}
}
