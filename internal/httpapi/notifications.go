package httpapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (a *API) listNotifications(c echo.Context) error {
	q := readQuery(c, "application", "environment", "kind", "undelivered", "limit", "cursor")
	p := q.page()
	f := promotion.NotificationFilter{Application: q.text("application"), Environment: q.text("environment"),
		Undelivered: q.flag("undelivered"), Before: p.before, Limit: p.probe()}
	f.Kind = promotion.NotificationKind(q.oneOf("kind", each(promotion.NotificationKinds(), func(k promotion.NotificationKind) string { return string(k) })...))
	if q.err != nil {
		return q.err
	}
	found, err := a.store.Notifications(c.Request().Context(), f)
	if err != nil {
		return err
	}
	var list api.NotificationList
	list.Items, list.NextCursor = cut(p, found, func(n promotion.NotificationEntry) int64 { return n.ID }, notificationAnswer)
	return c.JSON(http.StatusOK, list)
}

func (a *API) retryDelivery(c echo.Context) error {
	if err := a.useCases.TryAgain(c.Request().Context(), auth.ActorOf(c), c.Param("id")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func notificationAnswer(n promotion.NotificationEntry) api.Notification {
	return api.Notification{ID: n.ID, Kind: api.NotificationKind(n.Kind), Object: n.Object, At: n.At.UTC(), Application: n.Application,
		Environment: n.Environment, Promotion: unlessZero(n.PromotionID), Actor: n.Actor, Message: n.Message, Page: n.Page,
		Deliveries: each(n.Deliveries, deliveryAnswer)}
}

func deliveryAnswer(d promotion.Delivery) api.Delivery {
	return api.Delivery{ID: d.ID, Destination: d.Destination, Attempts: d.Attempts, TriedAt: d.TriedAt.UTC(), DeliveredAt: d.DeliveredAt.UTC(), Problem: d.Problem}
}
