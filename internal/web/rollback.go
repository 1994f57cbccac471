package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/rollback"
)

// rollbackView is what a target could go back to.
type rollbackView struct {
	Application, Environment, BackURL string
	Current                           link
	At                                moment
	Recommended                       string // release and way; empty without one
	NoReturn                          string // the release from which on the database bars the way back
	Candidates                        []candidateView
	AnswerURL                         string // of the API
	One                               bool   // only the release that was asked for is shown
	AllURL                            string
}

type candidateView struct {
	Release     link
	Number      int
	Recommended bool
	Ways        []wayView
	Said        []saidView
}

// wayView is a row: one release by one way.
type wayView struct {
	Name      string
	Undoes    link // the promotion, of a revert
	Overall   mark
	Checks    []checkView // none where nothing could be judged: NoWay says why
	GoBackURL string
	NoWay     string // why there is no form for it
	StoredURL string
	Best      bool // the recommended way of the recommended release
}

type checkView struct {
	Name     string
	Mark     mark
	Reported bool // it closes no gate
}

// saidView is a sentence about a candidate, with the ways that it is true of.
type saidView struct{ Kind, Text, Way string }

// checkNames are the checks in a word, for a narrow table.
var checkNames = map[string]string{rollback.ArtifactAvailable: "artifact", rollback.ConfigCompatible: "config", rollback.DataCompatible: "data",
	rollback.TrafficSwitchable: "traffic", rollback.DependencyRecoverable: "dependency"}

func rollbackURL(application, environment string) string {
	return targetURL(application, environment) + "/rollback"
}

func (w *Web) showRollback(c echo.Context) error {
	r := promotion.RollbackRequest{Application: c.Param("name"), Environment: c.Param("environment"), To: strings.TrimSpace(c.QueryParam("to"))}
	check, err := w.useCases.CheckRollback(c.Request().Context(), r)
	if err != nil {
		return err
	}
	asked := url.Values{"application": {r.Application}, "environment": {r.Environment}}
	if r.To != "" {
		asked.Set("to", r.To)
	}
	v := rollbackView{Application: r.Application, Environment: r.Environment, BackURL: targetURL(r.Application, r.Environment),
		Current: releaseLink(check.Current.ID, check.Current.Version), At: at(check.At, w.now()), AnswerURL: "/api/v1/rollbacks?" + asked.Encode(),
		One: r.To != "", AllURL: rollbackURL(r.Application, r.Environment)}
	var best promotion.RollbackVerdict
	if nearest := check.Nearest(); nearest != nil {
		best = nearest.Best()
		v.Recommended = best.Candidate.Version + ", " + wayName(best.Way)
		if best.Verdict.Overall != rollback.Safe {
			v.Recommended += ": " + string(best.Verdict.Overall) + ", and the policy only reports why"
		}
	}
	if barred := check.PointOfNoReturn(); barred != nil {
		v.NoReturn = barred.Release.Version
	}
	v.Candidates = each(check.Candidates, func(c promotion.RollbackCandidate) candidateView { return newCandidateView(c, best) })
	return w.show(c, http.StatusOK, "rollback", page{Title: fmt.Sprintf("Can %s go back in %s?", r.Application, r.Environment), Body: v})
}

func newCandidateView(c promotion.RollbackCandidate, best promotion.RollbackVerdict) candidateView {
	v := candidateView{Release: releaseLink(c.Release.ID, c.Release.Version), Number: c.Release.Number,
		Recommended: best.Candidate.ID != 0 && best.Candidate.ID == c.Release.ID}
	verdicts := []promotion.RollbackVerdict{c.Images, c.WithConfig}
	if c.Undo.Problem == "" {
		verdicts = append(verdicts, c.Undo.Verdict)
	}
	for _, verdict := range verdicts {
		way := newWayView(verdict, c.Undo.Promotion)
		way.Best = v.Recommended && verdict.Way == best.Way
		v.Ways = append(v.Ways, way)
	}
	if c.Undo.Problem != "" {
		v.Ways = append(v.Ways, wayView{Name: wayName(promotion.Revert), Undoes: promotionLink(c.Undo.Promotion), NoWay: c.Undo.Problem})
	}
	v.Said = eachOnce(each(verdicts, said)...)
	return v
}

// newWayView is a way with its form; undoes is the promotion that a revert undoes.
func newWayView(v promotion.RollbackVerdict, undoes int64) wayView {
	view := wayView{Name: wayName(v.Way), Overall: overallMark(v.Verdict.Overall), Checks: each(v.Verdict.Predicates.All(),
		func(p rollback.NamedPredicate) checkView {
			return checkView{checkNames[p.Name], predicateMark(p.Predicate), p.Mode == rollback.ModeReport}
		})}
	if v.ID != 0 {
		view.StoredURL = fmt.Sprintf("/api/v1/rollback-verdicts/%d", v.ID)
	}
	query := url.Values{"application": {v.Target.Application}, "environment": {v.Target.Environment}}
	if v.Way == promotion.ImagesAndConfig && v.Commit == "" {
		view.NoWay = "main is not known to have had its configuration"
		return view
	}
	query.Set("way", string(v.Way))
	if v.Way == promotion.Revert {
		view.Undoes, view.GoBackURL = promotionLink(undoes), undoURL(v.Target, undoes)
		return view
	}
	query.Set("to", fmt.Sprint(v.Candidate.ID))
	view.GoBackURL = "/rollback?" + query.Encode()
	return view
}

// undoURL leads to the form that undoes exactly a promotion's change.
func undoURL(t promotion.Target, id int64) string {
	return "/rollback?" + url.Values{"application": {t.Application}, "environment": {t.Environment}, "way": {string(promotion.Revert)},
		"promotion": {fmt.Sprint(id)}}.Encode()
}

func wayName(w promotion.Way) string {
	switch w {
	case promotion.ImagesAndConfig:
		return "images and configuration"
	case promotion.Revert:
		return "one promotion's change"
	}
	return "images only"
}

// said is everything there is to read about a verdict, what speaks against it first.
func said(v promotion.RollbackVerdict) []saidView {
	var all []saidView
	add := func(kind, text string) { all = append(all, saidView{Kind: kind, Text: text, Way: wayName(v.Way)}) }
	for _, check := range v.Verdict.Predicates.All() {
		if check.Mode == rollback.ModeOff {
			add(check.Name, "The check is off by policy.")
		}
		for _, reason := range check.Reasons {
			add(check.Name, rollback.Explain(reason))
		}
	}
	for _, cause := range v.Unread {
		add("Not read", cause)
	}
	for _, note := range v.Notes {
		add("Worth knowing", note)
	}
	for _, name := range v.Verdict.Unchecked {
		add("Unchecked", rollback.ExplainUnchecked(name))
	}
	return all
}

// eachOnce says once what is true of several ways, and of which unless it is of all.
func eachOnce(ways ...[]saidView) []saidView {
	var all []saidView
	of := map[saidView][]string{}
	for _, way := range ways {
		for _, s := range way {
			plain := saidView{Kind: s.Kind, Text: s.Text}
			if of[plain] == nil {
				all = append(all, plain)
			}
			of[plain] = append(of[plain], s.Way)
		}
	}
	for i, s := range all {
		if len(of[s]) < len(ways) {
			all[i].Way = strings.Join(of[s], ", ")
		}
	}
	return all
}

func overallMark(o rollback.Overall) mark {
	switch o {
	case rollback.Safe:
		return mark{Shape: "check", Tone: "good", Word: string(o), Title: "nothing is known to speak against it"}
	case rollback.Unsafe:
		return mark{Shape: "stop", Tone: "bad", Word: string(o), Title: "something is known to speak against it"}
	}
	return mark{Shape: "unknown", Tone: "warn", Word: string(o), Title: "not everything could be found out"}
}

func predicateMark(p rollback.Predicate) mark {
	switch p.Value {
	case rollback.Yes:
		return mark{Shape: "check", Tone: "good", Word: string(p.Value)}
	case rollback.No:
		return mark{Shape: "stop", Tone: "bad", Word: string(p.Value)}
	case rollback.Off:
		return mark{Shape: "dash", Tone: "off", Word: string(p.Value), Title: "off by policy: it counts nowhere"}
	case rollback.Unchecked:
		return mark{Shape: "dash", Tone: "off", Word: string(p.Value), Title: "not connected or not configured, so not looked at"}
	}
	return mark{Shape: "unknown", Tone: "warn", Word: string(rollback.Unknown), Title: "it could not be found out"}
}
