package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

type freezeView struct {
	Kind, Title, Does, Save              string
	Problem                              *promotion.Error
	Reason, Owner, From, To              fieldView
	Applications, Environments, Clusters fieldView
	Zone                                 fieldView
	Looked                               bool // what it covers is shown
	Covers                               []coveredView
	Seen, When, MayNot                   string
}

// coveredView is one application and its environments that a freeze is about.
type coveredView struct{ Application, Environments string }

func (w *Web) showFreeze(c echo.Context) error {
	z, err := w.chooseZone(c.Request().Context(), c.QueryParam("zone"))
	if err != nil {
		return err
	}
	sent := freezeForm{kind: promotion.FreezeKind(c.QueryParam("kind")), owner: auth.ActorOf(c).Name, from: w.now().In(z.place).Format(momentForm),
		applications: c.QueryParam("application"), environments: c.QueryParam("environment"), zone: z}
	if sent.kind != promotion.KindWindow {
		sent.kind = promotion.KindFreeze
	}
	return w.answerFreeze(c, http.StatusOK, sent, nil, nil)
}

// freezeForm is what was sent.
type freezeForm struct {
	kind                                 promotion.FreezeKind
	reason, owner, from, to              string
	applications, environments, clusters string
	zone                                 zoneChoice
}

// freeze is what the form asks for.
func (s freezeForm) freeze() (promotion.Freeze, *promotion.Error) {
	z := promotion.Freeze{Kind: s.kind, Reason: s.reason, Owner: s.owner, Applications: names(s.applications), Environments: names(s.environments), Clusters: names(s.clusters)}
	if s.zone.Problem != "" {
		return z, wrong("zone", s.zone.Problem)
	}
	var err error
	if z.StartsAt, err = s.zone.parse(s.from); err != nil {
		return z, wrong("starts_at", err.Error())
	}
	if z.EndsAt, err = s.zone.parse(s.to); err != nil {
		return z, wrong("ends_at", err.Error())
	}
	if s.to == "" {
		return z, wrong("ends_at", "say when it ends; it can be ended before")
	}
	return z, nil
}

// names takes a list apart as people write one.
func names(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' })
}

// freeze shows what a freeze covers, and saves it once exactly that was seen.
func (w *Web) freeze(c echo.Context) error {
	if err := readForm(c); err != nil {
		return err
	}
	ctx := c.Request().Context()
	text := func(name string) string { return strings.TrimSpace(c.FormValue(name)) }
	zone, err := w.chooseZone(ctx, text("zone"))
	if err != nil {
		return err
	}
	sent := freezeForm{kind: promotion.FreezeKind(text("kind")), reason: text("reason"), owner: text("owner"), from: text("starts_at"), to: text("ends_at"),
		applications: text("applications"), environments: text("environments"), clusters: text("clusters"), zone: zone}
	z, refused := sent.freeze()
	if refused != nil {
		return w.answerFreeze(c, http.StatusUnprocessableEntity, sent, nil, refused)
	}
	covered, err := w.useCases.PlanFreeze(ctx, z)
	save := err == nil && text("step") == "save"
	switch {
	case save && text("seen") != idsOf(covered):
		refused = &promotion.Error{Kind: promotion.Conflict, Code: "not-seen", Message: "Nothing is saved yet: this is what it covers. Look at it, then save it."}
		return w.answerFreeze(c, http.StatusConflict, sent, covered, refused)
	case save:
		_, err = w.useCases.Freeze(ctx, auth.ActorOf(c), z)
		if err == nil {
			return c.Redirect(http.StatusSeeOther, "/calendar#freezes")
		}
	}
	if err == nil {
		return w.answerFreeze(c, http.StatusOK, sent, covered, nil)
	}
	refused, ok := refusal(err)
	if !ok {
		return err
	}
	return w.answerFreeze(c, auth.Status(refused.Kind), sent, nil, refused)
}

// idsOf names targets, so that what was seen can be compared with what it is now.
func idsOf(targets []promotion.Target) string {
	ids := each(targets, func(t promotion.Target) string { return strconv.FormatInt(t.ID, 10) })
	slices.Sort(ids)
	return strings.Join(ids, ",")
}

func (w *Web) answerFreeze(c echo.Context, status int, sent freezeForm, covered []promotion.Target, refused *promotion.Error) error {
	v := freezeView{Kind: string(sent.kind), Looked: covered != nil, Covers: coverage(covered), Seen: idsOf(covered), MayNot: mayNot(c, "freeze or open a window", managers)}
	environments, clusters, err := w.knownPlaces(c.Request().Context())
	if err != nil {
		return err
	}
	v.Title, v.Save = "Freeze", "Freeze"
	v.Does = "From start to end nothing that it covers is merged or synced by Sluice: no release, no rollback, no person's change. It wins over every window."
	if sent.kind == promotion.KindWindow {
		v.Title, v.Save = "Extra window", "Open the window"
		v.Does = "From start to end changes may go out where no recurring window is open. Freezes and deny windows of the policy win over it."
	}
	if z, wrong := sent.freeze(); v.Looked && wrong == nil {
		v.When = fmt.Sprintf("%s to %s", sent.zone.clock(z.StartsAt), sent.zone.clock(z.EndsAt))
	}
	form := refusedForm{refused: refused}
	v.Reason = form.field("", "reason", "Reason", sent.reason, "Everybody who is held by it reads it.")
	v.Owner = form.field("text", "owner", "Owner", sent.owner, "Whom to ask about it.")
	v.From = form.field("moment", "starts_at", "From", sent.from, "")
	v.To = form.field("moment", "ends_at", "To", sent.to, "")
	v.Zone = form.choice("zone", "Time zone", "of both times", sent.zone.Options)
	const patterns = "Names, or patterns such as web-*, with spaces between. Empty: all."
	v.Applications = form.field("text", "applications", "Applications", sent.applications, patterns)
	v.Environments = form.field("text", "environments", "Environments", sent.environments, knownNames(environments))
	v.Clusters = form.field("text", "clusters", "Clusters", sent.clusters, knownNames(clusters))
	v.Problem = form.rest()
	return w.show(c, status, "freeze", page{Title: v.Title, Body: v})
}

func knownNames(names []string) string {
	if len(names) == 0 {
		return "Empty: all."
	}
	return "Empty: all. Known: " + strings.Join(names, ", ") + "."
}

// knownPlaces are the environments and the clusters that can be named.
func (w *Web) knownPlaces(ctx context.Context) (environments, clusters []string, err error) {
	targets, err := w.store.Targets(ctx)
	if err != nil {
		return nil, nil, err
	}
	deployments, err := w.store.Deployments(ctx, "", "")
	if err != nil {
		return nil, nil, err
	}
	for _, t := range targets {
		environments = append(environments, t.Environment)
	}
	for _, d := range deployments {
		if d.TargetID != 0 {
			clusters = append(clusters, d.Key.Cluster)
		}
	}
	slices.Sort(environments)
	slices.Sort(clusters)
	return slices.Compact(environments), slices.Compact(clusters), nil
}

// coverage puts the environments of each application together.
func coverage(targets []promotion.Target) []coveredView {
	var views []coveredView
	for _, t := range targets {
		i := slices.IndexFunc(views, func(v coveredView) bool { return v.Application == t.Application })
		if i < 0 {
			views = append(views, coveredView{t.Application, t.Environment})
			continue
		}
		views[i].Environments += ", " + t.Environment
	}
	return views
}
