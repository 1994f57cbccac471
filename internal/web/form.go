package web

import (
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// fieldView is one field of a form, with what was sent in it and what is wrong with that.
type fieldView struct {
	ID, Name, Label, Value string
	Kind                   string // text, moment, url or select; a text of several lines otherwise
	Help, Problem          string
	Options                []option // of a select
}

// refusedForm is why a form was not done: it is asked for each field, and keeps what belongs to none.
type refusedForm struct {
	refused *promotion.Error
	asked   []string
}

// problem is what is wrong with a field.
func (r *refusedForm) problem(field string) string {
	r.asked = append(r.asked, field)
	if r.refused == nil || r.refused.Field != field {
		return ""
	}
	return r.refused.Message
}

// rest is what no field is to blame for.
func (r *refusedForm) rest() *promotion.Error {
	if r.refused == nil || slices.Contains(r.asked, r.refused.Field) {
		return nil
	}
	return r.refused
}

func (r *refusedForm) field(kind, name, label, value, help string) fieldView {
	return fieldView{ID: name, Name: name, Label: label, Value: value, Kind: kind, Help: help, Problem: r.problem(name)}
}

// choice is a select.
func (r *refusedForm) choice(name, label, help string, options []option) fieldView {
	f := r.field("select", name, label, "", help)
	f.Options = options
	return f
}

// lasting is for how long something exceptional can be asked for.
var lasting = []struct {
	text string
	time time.Duration
}{{"30 minutes", 30 * time.Minute}, {"1 hour", time.Hour}, {"2 hours", 2 * time.Hour}, {"4 hours", 4 * time.Hour}, {"8 hours", 8 * time.Hour}, {"24 hours", 24 * time.Hour}}

// lasts is the choice of how long, which the domain knows as expires_at.
func (r *refusedForm) lasts(label, help, chosen string) fieldView {
	var options []option
	for _, l := range lasting {
		options = append(options, option{Value: l.time.String(), Text: l.text, Chosen: l.time.String() == chosen})
	}
	f := r.choice("lasts", label, help, options)
	if problem := r.problem("expires_at"); problem != "" {
		f.Problem = problem
	}
	return f
}

// mayNot says why the person at a form may not send it; empty when they may.
func mayNot(c echo.Context, what string, roles []promotion.Role) string {
	by := auth.ActorOf(c)
	switch {
	case by.Name == "":
		return "Sign in first."
	case !by.Has(roles...):
		return by.Name + " may not " + what + ": it needs the role " + anyOf(roles) + "."
	}
	return ""
}

func wrong(field, message string) *promotion.Error {
	return &promotion.Error{Kind: promotion.Invalid, Code: "malformed-" + field, Field: field, Message: message}
}
