package web

import (
	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/promotion"
)

// besideView is what the sync windows of an Argo CD project say of a deployment.
type besideView struct {
	Deployment, Project string
	Now                 mark
	Why, Problem        string
	Differs             []differenceView
}

// differenceView is a time in which project and policy disagree.
type differenceView struct{ From, To, Why string }

// differencesShown bounds how many are listed of one deployment.
const differencesShown = 5

func newBesideView(d promotion.DeploymentWindows, zone zoneChoice) besideView {
	v := besideView{Deployment: d.Deployment.Name + " in " + d.Deployment.Cluster, Project: d.Project, Why: d.Now.Reason, Problem: d.Problem,
		Now: mark{Shape: "stop", Tone: "warn", Word: "closed"}}
	if d.Now.Open {
		v.Now = mark{Shape: "check", Tone: "good", Word: "open"}
	}
	for _, i := range d.Differs[:min(len(d.Differs), differencesShown)] {
		v.Differs = append(v.Differs, differenceView{From: zone.clock(i.From), To: zone.clock(i.To), Why: i.Reason})
	}
	return v
}

// daysBeside is how far ahead a target's page looks for disagreement.
const daysBeside = 7

// besideOf is what Argo CD's projects say of a target in the days to come.
func (w *Web) besideOf(c echo.Context, t promotion.Target) ([]besideView, error) {
	ctx := c.Request().Context()
	zone, err := w.chooseZone(ctx, c.QueryParam("zone"))
	if err != nil {
		return nil, err
	}
	all, err := w.useCases.ProjectWindows(ctx, t, w.now(), w.now().AddDate(0, 0, daysBeside))
	return each(all, func(d promotion.DeploymentWindows) besideView { return newBesideView(d, zone) }), err
}
