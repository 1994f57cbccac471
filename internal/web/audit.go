package web

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/promotion"
)

type auditView struct {
	Application, Environment, Promotion string
	Rows                                []auditRow
	Older                               string
}

type auditRow struct {
	ID                       int64
	At                       moment
	Actor                    string
	Kind                     promotion.ActorKind
	Action, Message          string
	Application, Environment string
	Promotion                link
	Source                   string
}

func (w *Web) showAudit(c echo.Context) error {
	before, err := readBefore(c)
	if err != nil {
		return err
	}
	id, err := queryID(c, "promotion")
	if err != nil {
		return err
	}
	v := auditView{Application: c.QueryParam("application"), Environment: c.QueryParam("environment")}
	if id != 0 {
		v.Promotion = strconv.FormatInt(id, 10)
	}
	found, err := w.store.AuditEvents(c.Request().Context(), promotion.AuditFilter{Application: v.Application, Environment: v.Environment,
		PromotionID: id, Before: before, Limit: pageLength + 1})
	if err != nil {
		return err
	}
	shown, last := cut(found, pageLength, func(e promotion.AuditEvent) int64 { return e.ID })
	v.Rows = each(shown, func(e promotion.AuditEvent) auditRow {
		return auditRow{ID: e.ID, At: at(e.At, w.now()), Actor: e.Actor.Name, Kind: e.Actor.Kind, Action: e.Action, Message: e.Message,
			Application: e.Application, Environment: e.Environment, Promotion: promotionLink(e.PromotionID), Source: e.SourceAddress}
	})
	v.Older = older("/audit", url.Values{"application": {v.Application}, "environment": {v.Environment}, "promotion": {v.Promotion}}, last)
	return w.show(c, http.StatusOK, "audit", page{Title: "Audit", Body: v})
}
