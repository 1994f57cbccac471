package httpapi

import (
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// shownAhead is how far ahead windows are shown when nobody says how far.
const shownAhead = 7 * 24 * time.Hour

func (a *API) listWindows(c echo.Context) error {
	q := readQuery(c, "application", "environment", "from", "to")
	from, to := q.moment("from"), q.moment("to")
	if q.err != nil {
		return q.err
	}
	if from.IsZero() {
		from = a.now()
	}
	if to.IsZero() {
		to = from.Add(shownAhead)
	}
	windows, err := a.useCases.Windows(c.Request().Context(), from, to)
	if err != nil {
		return err
	}
	windows = slices.DeleteFunc(windows, func(w promotion.TargetWindows) bool { return !q.about(w.Target) })
	return c.JSON(http.StatusOK, api.WindowList{Items: each(windows, windowsAnswer)})
}

func (a *API) listFreezes(c echo.Context) error {
	if q := readQuery(c); q.err != nil {
		return q.err
	}
	freezes, err := a.store.Freezes(c.Request().Context(), a.now())
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, api.FreezeList{Items: each(freezes, freezeAnswer)})
}

func (a *API) freeze(c echo.Context) error {
	z, err := freezeRequest(c)
	if err != nil {
		return err
	}
	if z, err = a.useCases.Freeze(c.Request().Context(), auth.ActorOf(c), z); err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, freezeAnswer(z))
}

func (a *API) planFreeze(c echo.Context) error {
	z, err := freezeRequest(c)
	if err != nil {
		return err
	}
	targets, err := a.useCases.PlanFreeze(c.Request().Context(), z)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, api.TargetList{Items: each(targets, targetAnswer)})
}

func (a *API) endFreeze(c echo.Context) error {
	if err := decodeOptional(c, &struct{}{}); err != nil {
		return err
	}
	id, err := pathID(c)
	if err != nil {
		return err
	}
	if err := a.useCases.Thaw(c.Request().Context(), auth.ActorOf(c), id); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func freezeRequest(c echo.Context) (promotion.Freeze, error) {
	var r api.FreezeRequest
	err := decode(c, &r)
	return promotion.Freeze{Kind: promotion.FreezeKind(r.Kind), Reason: r.Reason, Owner: r.Owner, Applications: r.Applications,
		Environments: r.Environments, Clusters: r.Clusters, StartsAt: r.StartsAt.Time, EndsAt: r.EndsAt.Time}, err
}

func freezeAnswer(z promotion.Freeze) api.Freeze {
	return api.Freeze{ID: z.ID, Kind: api.FreezeKind(z.Kind), Reason: z.Reason, Owner: z.Owner,
		Applications: each(z.Applications, same[string]), Environments: each(z.Environments, same[string]), Clusters: each(z.Clusters, same[string]),
		StartsAt: z.StartsAt.UTC(), EndsAt: z.EndsAt.UTC(), CreatedBy: z.CreatedBy, CreatedAt: z.CreatedAt.UTC()}
}

func windowsAnswer(w promotion.TargetWindows) api.Windows {
	return api.Windows{
		Application: w.Target.Application, Environment: w.Target.Environment,
		Now: decisionAnswer(w.Now), Open: each(w.Open, intervalAnswer), Closed: each(w.Closed, intervalAnswer),
		Projects: each(w.Beside, func(d promotion.DeploymentWindows) api.ProjectWindows {
			return api.ProjectWindows{Cluster: d.Deployment.Cluster, Deployment: d.Deployment.Name, Project: d.Project, Now: decisionAnswer(d.Now),
				Problem: d.Problem, Differs: each(d.Differs, intervalAnswer)}
		}),
	}
}

func decisionAnswer(d promotion.WindowDecision) api.WindowDecision {
	return api.WindowDecision{Open: d.Open, By: d.By, Reason: d.Reason, Next: unlessNever(d.Next)}
}

func intervalAnswer(i promotion.Interval) api.Interval {
	return api.Interval{From: i.From.UTC(), To: i.To.UTC(), By: i.By, Reason: i.Reason}
}
