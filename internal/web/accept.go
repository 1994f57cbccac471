package web

import (
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/rollback"
)

// wayBackView is what is unknown of a promotion's way back, and what somebody let stand.
type wayBackView struct {
	Unknowns []unknownView // that nobody has accepted
	SignOff  string        // where what nobody has attested can be; empty when that is not what is unknown
	Accepted []acceptedView
	Form     *acceptFormView // for who may
	MayNot   string
}

type unknownView struct {
	Code, Text string
	Mark       mark
}

type acceptedView struct {
	Unknown, By, Reason string
	At, Until           moment
	Expired             bool
}

type acceptFormView struct{ Unknown, Reason, Lasts fieldView }

// acceptForm is what was sent.
type acceptForm struct{ unknown, reason, lasts string }

// standing is for how long an unknown can be let stand.
var standing = []struct {
	text string
	time time.Duration
}{{"4 hours", 4 * time.Hour}, {"1 day", 24 * time.Hour}, {"3 days", 72 * time.Hour}, {"7 days", 168 * time.Hour}, {"30 days", 720 * time.Hour}}

func (w *Web) acceptUnknown(c echo.Context) error {
	id, err := pathID(c, "id")
	if err != nil {
		return err
	}
	if err := readForm(c); err != nil {
		return err
	}
	sent := acceptForm{unknown: c.FormValue("unknown"), reason: strings.TrimSpace(c.FormValue("reason")), lasts: c.FormValue("lasts")}
	r := promotion.AcceptRequest{Promotion: id, Unknown: sent.unknown, Reason: sent.reason}
	if lasts, err := time.ParseDuration(sent.lasts); err == nil {
		r.ExpiresAt = w.now().Add(lasts)
	}
	_, err = w.useCases.AcceptUnknown(c.Request().Context(), auth.ActorOf(c), r)
	return w.afterAction(c, id, err, attempt{action: "accept", accept: sent})
}

// newWayBackView is nil when nothing is unknown and nothing was accepted. Without now, nothing has expired.
func newWayBackView(f promotionFacts, by promotion.Actor, tried attempt, now time.Time) *wayBackView {
	v := &wayBackView{}
	var inForce []string
	for _, a := range f.accepted {
		expired := !a.InForce(now)
		if !expired {
			inForce = append(inForce, a.Unknown)
		}
		v.Accepted = append(v.Accepted, acceptedView{Unknown: a.Unknown, By: a.AcceptedBy, Reason: a.Reason, At: at(a.AcceptedAt, now), Until: at(a.ExpiresAt, now), Expired: expired})
	}
	for _, u := range promotion.UnknownsOf(f.gates) {
		if f.promotion.Open() && !slices.Contains(inForce, u) {
			v.Unknowns = append(v.Unknowns, unknownView{Code: u, Text: rollback.Explain(u), Mark: predicateMark(rollback.Predicate{Value: rollback.Unknown})})
		}
	}
	v.SignOff = signOffURL(f.promotion, f.gates, v.Unknowns)
	// A refusal is shown in the form even if nothing is left to accept by then.
	refused := tried.action == "accept" && tried.refused != nil
	switch {
	case len(v.Unknowns) == 0 && len(v.Accepted) == 0 && !refused:
		return nil
	case len(v.Unknowns) == 0 && !refused:
	case by.Name == "":
		v.MayNot = "Sign in to accept one."
	case !by.Has(deciders...):
		v.MayNot = by.Name + " may not accept an unknown: it needs the role " + anyOf(deciders) + "."
	case by.Name == f.promotion.RequestedBy:
		v.MayNot = "You asked for this promotion, so somebody else has to accept what is not known of it."
	default:
		v.Form = v.form(tried)
	}
	return v
}

func (v *wayBackView) form(tried attempt) *acceptFormView {
	form, sent := refusedForm{}, acceptForm{lasts: (24 * time.Hour).String()}
	if tried.action == "accept" {
		form.refused, sent = tried.refused, tried.accept
	}
	var unknowns, lasts []option
	for _, u := range v.Unknowns {
		unknowns = append(unknowns, option{Value: u.Code, Text: u.Code, Chosen: u.Code == sent.unknown})
	}
	for _, s := range standing {
		lasts = append(lasts, option{Value: s.time.String(), Text: s.text, Chosen: s.time.String() == sent.lasts})
	}
	view := &acceptFormView{Unknown: form.choice("unknown", "Unknown", "", unknowns),
		Reason: form.field("", "reason", "Reason why it may stand", sent.reason, "Approvers read it, and so does whoever asks later."),
		Lasts:  form.choice("lasts", "For", "Then it holds again.", lasts)}
	view.Lasts.Problem = form.problem("expires_at")
	for _, f := range []*fieldView{&view.Unknown, &view.Reason, &view.Lasts} {
		f.ID = "accept-" + f.ID // another form of the page has a reason, too
	}
	return view
}
