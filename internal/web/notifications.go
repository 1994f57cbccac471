package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// How many notifications are shown.
const notificationsShown = 100

type notificationsView struct {
	Sentence string
	Problem  *promotion.Error
	Failed   bool // only those that have not arrived are shown
	Items    []notificationView
	None     string // why there is no item
}

// notificationView is what was told, and how that went.
type notificationView struct {
	Kind       string
	What       link
	Where      string
	At         moment
	Deliveries []deliveryView
}

type deliveryView struct {
	Destination, Problem, Attempts string
	Mark                           mark
	At                             moment // of the last attempt
	TryAgain                       string // address of the form; empty where there is nothing to try, or not by this person
}

func (w *Web) showNotifications(c echo.Context) error {
	return w.answerNotifications(c, http.StatusOK, nil)
}

func (w *Web) tryAgain(c echo.Context) error {
	err := w.useCases.TryAgain(c.Request().Context(), auth.ActorOf(c), c.Param("delivery"))
	if err == nil {
		return c.Redirect(http.StatusSeeOther, "/notifications")
	}
	refused, ok := refusal(err)
	if !ok {
		return err
	}
	return w.answerNotifications(c, auth.Status(refused.Kind), refused)
}

func (w *Web) answerNotifications(c echo.Context, status int, refused *promotion.Error) error {
	v := notificationsView{Problem: refused, Failed: c.QueryParam("undelivered") == "true"}
	found, err := w.store.Notifications(c.Request().Context(), promotion.NotificationFilter{Undelivered: v.Failed, Limit: notificationsShown})
	if err != nil {
		return err
	}
	failed, told := 0, false
	mayTry := auth.ActorOf(c).Has(managers...)
	for _, n := range found {
		item := w.newNotificationView(n, mayTry)
		for _, d := range n.Deliveries {
			told = true
			if d.DeliveredAt.IsZero() && d.Attempts > 0 {
				failed++
			}
		}
		v.Items = append(v.Items, item)
	}
	switch {
	case failed > 0:
		v.Sentence = plural(failed, "message") + " not arrived yet. Sluice tries again by itself, for a day."
	case told:
		v.Sentence = "Everything has arrived."
	case len(found) > 0:
		v.Sentence = "Nobody is told: the server's configuration has no destination that wants these."
	}
	v.None = "Nothing was told yet. What is told, and to whom, is in the server's configuration: notifications."
	if v.Failed {
		v.None = "Everything has arrived."
	}
	return w.show(c, status, "notifications", page{Title: "Notifications", Body: v})
}

func (w *Web) newNotificationView(n promotion.NotificationEntry, mayTry bool) notificationView {
	v := notificationView{Kind: string(n.Kind), What: link{Text: n.Message, URL: n.Page}, At: at(n.At, w.now())}
	v.Where = strings.TrimPrefix(n.Application+orBlank(" in ", n.Environment), " in ")
	v.Deliveries = each(n.Deliveries, func(d promotion.Delivery) deliveryView {
		view := deliveryView{Destination: d.Destination, Problem: d.Problem, Mark: deliveryMark(d), At: at(d.TriedAt, w.now())}
		if d.Attempts > 0 {
			view.Attempts = plural(d.Attempts, "attempt")
		}
		if mayTry && d.DeliveredAt.IsZero() {
			view.TryAgain = "/notifications/" + url.PathEscape(d.ID) + "/try-again"
		}
		return view
	})
	return v
}

func deliveryMark(d promotion.Delivery) mark {
	switch {
	case !d.DeliveredAt.IsZero():
		return mark{Shape: "check", Tone: "good", Word: "Arrived", Title: "the destination has answered that it has it"}
	case d.Attempts == 0:
		return mark{Shape: "clock", Tone: "busy", Word: "On its way", Title: "it was not tried yet"}
	}
	return mark{Shape: "warning", Tone: "bad", Word: "Not arrived", Title: "the last attempt failed"}
}
