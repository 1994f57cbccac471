package httpapi

import (
	"maps"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (a *API) planRestoration(c echo.Context) error {
	r, err := restoreRequest(c)
	if err != nil {
		return err
	}
	plan, err := a.useCases.PlanRestore(c.Request().Context(), r)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, restorationAnswer(plan))
}

func (a *API) restore(c echo.Context) error {
	r, err := restoreRequest(c)
	if err != nil {
		return err
	}
	p, err := a.useCases.Restore(c.Request().Context(), auth.ActorOf(c), r)
	if err != nil {
		return err
	}
	return a.answerPromotion(c, http.StatusCreated, p)
}

func restoreRequest(c echo.Context) (promotion.RestoreRequest, error) {
	var r api.RestorationRequest
	err := decode(c, &r)
	return promotion.RestoreRequest{
		Application: r.Application, Environment: r.Environment,
		Restoration:   promotion.Restoration{Commit: r.Commit, Base: r.Base, Secrets: r.Secrets},
		ImagesOfToday: r.ImagesOfToday, Reason: r.Reason,
	}, err
}

// restorationAnswer names the files and leaves out what is in them: secrets may be.
func restorationAnswer(p promotion.RestorePlan) api.RestorationPlan {
	return api.RestorationPlan{
		Application: p.Target.Application, Environment: p.Target.Environment,
		Release: p.Release.ID, ReleaseNumber: p.Release.Number, Version: p.Release.Version,
		Files:   each(slices.Sorted(maps.Keys(p.Change.Files)), same[string]),
		Deletes: each(p.Change.Deletes, same[string]), Added: each(p.Change.Added, same[string]),
		Removed: each(p.Change.Removed, func(o promotion.RemovedObject) api.RemovedObject {
			return api.RemovedObject{Object: o.Object, Stateful: o.Stateful}
		}),
		PlaintextSecrets: each(p.Change.PlaintextSecrets, same[string]), Notes: each(p.Change.Notes, same[string]),
		AlsoChanges: each(p.Others, targetAnswer), Diff: p.Change.Diff,
	}
}

func targetAnswer(t promotion.Target) api.Target {
	return api.Target{Application: t.Application, Environment: t.Environment, Repository: t.Repository, Path: t.Path}
}
