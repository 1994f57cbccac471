package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// How much drift is shown, of what is open and of what was resolved.
const driftShown = 300

type driftPageView struct {
	Sentence string
	Targets  []driftView
	Resolved []driftedView
}

// driftView is what is known of one deployment's drift.
type driftView struct {
	Where, Deployment string
	URL               string // of the target
	Sentence          string
	Compared          moment
	Revision          shortened
	Problem           string // why it is unknown
	Since             moment
	Rollback          string
	Fields            []driftedView
	Excused           []driftedView
	Unchecked         []string
	Warning           string
	Application       string
	Environment       string
	AdoptURL          string // of the form for the release that runs; empty where there is none to adopt
	Adoptable         []adoptableView
	RestoreURL        string // empty where a person may not, or nothing is to be restored
	Refused           *promotion.Error
}

// adoptableView is a field that can be adopted, for a form to choose from.
type adoptableView struct {
	ID   int64
	Text string
}

// driftedView is one field.
type driftedView struct {
	ID              int64
	Mark            mark
	Object          string
	Lines           []diffLine
	Owner           string
	Written         []writtenView // by people, as audited
	OwnedAt         moment
	Since, Resolved moment
	Excuse, Finding string
	Oscillates      string
}

// writtenView is one person's write to a live object.
type writtenView struct {
	User, How string
	At        moment
}

func orBlank(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

func (w *Web) showDrift(c echo.Context) error {
	v := driftPageView{}
	looks, open, err := w.drift(c.Request().Context(), 0)
	if err != nil {
		return err
	}
	drifting, unknown := 0, 0
	for _, l := range looks {
		d := w.newDriftView(l, open, nil)
		switch {
		case l.Problem != "":
			unknown++
		case len(d.Fields) > 0 || l.Rollback != "":
			drifting++
		case len(d.Excused) == 0:
			continue
		}
		v.Targets = append(v.Targets, d)
	}
	v.Sentence = fmt.Sprintf("Of %s, %d not as Git says and %d unknown.", plural(len(looks), "compared deployment"), drifting, unknown)
	all, err := w.store.Drifts(c.Request().Context(), 0, false, driftShown)
	if err != nil {
		return err
	}
	for _, d := range all {
		if !d.ResolvedAt.IsZero() && d.Counts() && len(v.Resolved) < 50 {
			v.Resolved = append(v.Resolved, w.newDriftedView(d))
		}
	}
	return w.show(c, http.StatusOK, "drift", page{Title: "Drift", Body: v})
}

func (w *Web) drift(ctx context.Context, targetID int64) ([]promotion.DriftLook, []promotion.Drift, error) {
	looks, err := w.store.DriftLooks(ctx, targetID)
	if err != nil {
		return nil, nil, err
	}
	open, err := w.store.Drifts(ctx, targetID, true, driftShown)
	return looks, open, err
}

// driftOf is a target's drift, by deployment, with why restoring it was refused.
func (w *Web) driftOf(c echo.Context, t promotion.Target, refused *promotion.Error) ([]driftView, error) {
	looks, open, err := w.drift(c.Request().Context(), t.ID)
	if err != nil {
		return nil, err
	}
	views := make([]driftView, len(looks))
	for i, l := range looks {
		views[i] = w.newDriftView(l, open, refused)
		refused = nil // is said once
		if auth.ActorOf(c).Has(deciders...) && len(views[i].Fields) > 0 {
			views[i].RestoreURL = targetURL(t.Application, t.Environment) + "/restore-live"
		}
	}
	return views, nil
}

func (w *Web) newDriftView(l promotion.DriftLook, open []promotion.Drift, refused *promotion.Error) driftView {
	v := driftView{Application: l.Target.Application, Environment: l.Target.Environment, Where: l.Target.Application + " in " + l.Target.Environment, URL: targetURL(l.Target.Application, l.Target.Environment),
		Deployment: l.Deployment.Name + " in " + l.Deployment.Cluster, Compared: at(l.LookedAt, w.now()), Revision: shorten(l.Revision),
		Problem: l.Problem, Since: at(l.ProblemSince, w.now()), Rollback: l.Rollback, Unchecked: l.Unchecked, Refused: refused}
	for _, d := range open {
		if d.Deployment != l.Deployment {
			continue
		}
		if mayAdopt(d) {
			v.Adoptable = append(v.Adoptable, adoptableView{d.ID, d.Object + " " + d.Path + ": " + d.Have})
		}
		if d.Counts() {
			v.Fields = append(v.Fields, w.newDriftedView(d))
		} else {
			v.Excused = append(v.Excused, w.newDriftedView(d))
		}
	}
	switch {
	case len(v.Fields) > 0:
		v.Sentence = fmt.Sprintf("%s not as Git says.", isOrAre(len(v.Fields)))
	default:
		v.Sentence = "Live objects are as Git says."
	}
	if l.Rollback != "" {
		v.AdoptURL = adoptURL(l.Target)
	}
	if l.SelfHeal && (len(v.Fields) > 0 || l.Rollback != "") {
		v.Warning = "Self-heal is on: Argo CD will undo this by itself, an emergency change too."
	}
	return v
}

// mayAdopt tells whether a form offers a field; the domain has the last word.
func mayAdopt(d promotion.Drift) bool {
	shown := d.Have != "" && !strings.Contains(d.Have, "(hidden") && !strings.HasPrefix(d.Object, "Secret ")
	return d.Class == promotion.DriftHuman && d.Counts() && d.Path != "" && !strings.HasSuffix(d.Path, ".image") && shown
}

func isOrAre(n int) string {
	if n == 1 {
		return "1 field is"
	}
	return fmt.Sprintf("%d fields are", n)
}

func (w *Web) newDriftedView(d promotion.Drift) driftedView {
	v := driftedView{ID: d.ID, Mark: driftMark(d.Class), Object: d.Object, Owner: d.Owner, OwnedAt: at(d.OwnedAt, w.now()), Since: at(d.FirstSeen, w.now()),
		Resolved: at(d.ResolvedAt, w.now()), Excuse: d.Excuse, Finding: d.Finding}
	for _, o := range d.Written {
		v.Written = append(v.Written, writtenView{User: o.User, How: o.Verb + orBlank(" with ", o.Agent) + orBlank(" from ", o.Source), At: at(o.At, w.now())})
	}
	if d.Path != "" {
		v.Lines = append(v.Lines, diffLine{"file", d.Path})
	}
	v.Lines = append(v.Lines, diffLine{"added", "Git   " + orNothing(d.Want)}, diffLine{"removed", "live  " + orNothing(d.Have)})
	if d.Oscillates() {
		v.Oscillates = fmt.Sprintf("It drifted %d times within an hour: %s and Argo CD take turns. Have Git leave the field out, or ignore it on purpose.", d.Times, d.Owner)
	}
	return v
}

func orNothing(value string) string {
	if value == "" {
		return "(nothing)"
	}
	return value
}

func driftMark(class promotion.DriftClass) mark {
	m := mark{Shape: "differs", Tone: "bad", Title: "what kind of program wrote it"}
	switch class {
	case promotion.DriftHuman:
		m.Word = "by a person"
	case promotion.DriftAutoscaler:
		m.Word, m.Tone = "by an autoscaler", "warn"
	case promotion.DriftWebhook:
		m.Word, m.Tone = "by an admission webhook", "off"
	case promotion.DriftController:
		m.Word, m.Tone = "by a controller", "warn"
	case promotion.DriftDelivery:
		m.Word = "by another delivery tool"
	case promotion.DriftDeleted:
		m.Word, m.Shape = "deleted", "dash"
	case promotion.DriftExtra:
		m.Word, m.Tone = "not in Git", "warn"
	default:
		m.Word, m.Tone, m.Shape = "nobody knows by whom", "warn", "unknown"
	}
	return m
}

func (w *Web) restoreLive(c echo.Context) error {
	application, environment := c.Param("name"), c.Param("environment")
	err := w.useCases.RestoreLive(c.Request().Context(), auth.ActorOf(c), application, environment)
	if err == nil {
		return c.Redirect(http.StatusSeeOther, targetURL(application, environment))
	}
	refused, ok := refusal(err)
	if !ok {
		return err
	}
	return w.answerTarget(c, auth.Status(refused.Kind), refused)
}
