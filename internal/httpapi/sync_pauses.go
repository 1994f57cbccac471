package httpapi

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (a *API) listSyncPauses(c echo.Context) error {
	q := readQuery(c, "application", "environment")
	if q.err != nil {
		return q.err
	}
	return a.answerSyncPauses(c, q.about)
}

func (a *API) pauseSync(c echo.Context) error {
	var r api.SyncPauseRequest
	if err := decode(c, &r); err != nil {
		return err
	}
	p, err := a.useCases.PauseSync(c.Request().Context(), auth.ActorOf(c), promotion.SyncPauseRequest{Application: r.Application,
		Environment: r.Environment, Owner: r.Owner, Reason: r.Reason, ExpiresAt: r.ExpiresAt.Time})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, a.syncPauseAnswer(p))
}

func (a *API) resumeSync(c echo.Context) error {
	var r api.SyncResumeRequest
	if err := decode(c, &r); err != nil {
		return err
	}
	if err := a.useCases.ResumeSync(c.Request().Context(), auth.ActorOf(c), r.Application, r.Environment); err != nil {
		return err
	}
	return a.answerSyncPauses(c, func(t promotion.Target) bool { return t.Application == r.Application && t.Environment == r.Environment })
}

func (a *API) answerSyncPauses(c echo.Context, about func(promotion.Target) bool) error {
	pauses, err := a.store.SyncPauses(c.Request().Context(), 0)
	if err != nil {
		return err
	}
	pauses = slices.DeleteFunc(pauses, func(p promotion.SyncPause) bool { return !about(p.Target) })
	return c.JSON(http.StatusOK, api.SyncPauseList{Items: each(pauses, a.syncPauseAnswer)})
}

func (a *API) syncPauseAnswer(p promotion.SyncPause) api.SyncPause {
	return api.SyncPause{ID: p.ID, Application: p.Target.Application, Environment: p.Target.Environment, Owner: p.Owner, Reason: p.Reason,
		PausedBy: p.PausedBy, PausedAt: p.PausedAt.UTC(), ExpiresAt: p.ExpiresAt.UTC(), Overdue: p.Overdue(a.now())}
}
