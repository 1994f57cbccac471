package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// attestationsView is what was attested of an application's releases, and the form to sign off more.
type attestationsView struct {
	Application, BackURL                       string
	Rows                                       []attestationView
	Problem                                    *promotion.Error
	From, To, Subject, Verdict, Reason, Counts fieldView
	MayNot                                     string
}

type attestationView struct {
	Mark          mark
	Subject, By   string
	From, To      link // To is empty for what was posted with a build
	Since, Reason string
	Posted        bool
	At, Until     moment // Until is empty: it does not expire
	Expired       bool
}

// counting is for how long a person's word can count.
var counting = []struct {
	text string
	time time.Duration
}{{"1 day", 24 * time.Hour}, {"7 days", 168 * time.Hour}, {"30 days", 720 * time.Hour}, {"90 days", 2160 * time.Hour}}

// subjectTexts are what a form asks about.
var subjectTexts = map[promotion.Subject]string{promotion.SubjectData: "data: what it writes into the database", promotion.SubjectMessages: "messages that are queued",
	promotion.SubjectCaches: "values that are cached", promotion.SubjectSideEffects: "side effects: what it has done outside"}

// mostAttestations is how many the page shows.
const mostAttestations = 50

func attestationsURL(application, from, to string) string {
	query := url.Values{"application": {application}}
	for name, value := range map[string]string{"from": from, "to": to} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return "/attestations?" + query.Encode()
}

func (w *Web) showAttestations(c echo.Context) error {
	return w.answerAttestations(c, http.StatusOK, promotion.AttestRequest{Application: c.QueryParam("application"), From: c.QueryParam("from"),
		To: c.QueryParam("to"), Subject: promotion.Subject(c.QueryParam("subject"))}, (168 * time.Hour).String(), nil)
}

func (w *Web) attest(c echo.Context) error {
	if err := readForm(c); err != nil {
		return err
	}
	text := func(name string) string { return strings.TrimSpace(c.FormValue(name)) }
	r := promotion.AttestRequest{Application: text("application"), From: text("from"), To: text("to"), Subject: promotion.Subject(text("subject")),
		Verdict: promotion.AttestedVerdict(text("verdict")), Reason: text("reason")}
	lasts := text("lasts")
	if d, err := time.ParseDuration(lasts); err == nil {
		r.ExpiresAt = w.now().Add(d)
	}
	_, err := w.useCases.Attest(c.Request().Context(), auth.ActorOf(c), r)
	if err == nil {
		return c.Redirect(http.StatusSeeOther, attestationsURL(r.Application, "", ""))
	}
	refused, ok := refusal(err)
	if !ok {
		return err
	}
	return w.answerAttestations(c, auth.Status(refused.Kind), r, lasts, refused)
}

func (w *Web) answerAttestations(c echo.Context, status int, r promotion.AttestRequest, lasts string, refused *promotion.Error) error {
	if r.Application == "" {
		return &promotion.Error{Kind: promotion.Absent, Code: "unknown-application", Message: "the address names no application"}
	}
	all, err := w.store.Attestations(c.Request().Context(), r.Application, mostAttestations)
	if err != nil {
		return err
	}
	v := attestationsView{Application: r.Application, BackURL: "/applications/" + url.PathEscape(r.Application),
		Rows:   each(all, func(a promotion.Attestation) attestationView { return newAttestationView(a, w.now()) }),
		MayNot: mayNot(c, "sign it off", deciders)}
	v.fill(r, lasts, refused)
	return w.show(c, status, "attestations", page{Title: "What " + r.Application + " can go back from", Body: v})
}

func (v *attestationsView) fill(r promotion.AttestRequest, lasts string, refused *promotion.Error) {
	form := refusedForm{refused: refused}
	subjects := []option{}
	for _, s := range promotion.Subjects() {
		subjects = append(subjects, option{Value: string(s), Text: subjectTexts[s], Chosen: s == r.Subject})
	}
	verdicts := []option{{Text: "choose"}}
	for _, verdict := range []promotion.AttestedVerdict{promotion.AttestedCompatible, promotion.AttestedIncompatible} {
		verdicts = append(verdicts, option{Value: string(verdict), Text: string(verdict), Chosen: verdict == r.Verdict})
	}
	times := []option{}
	for _, t := range counting {
		times = append(times, option{Value: t.time.String(), Text: t.text, Chosen: t.time.String() == lasts})
	}
	v.From = form.field("text", "from", "Going back from", r.From, "The release that has left it, by id or version.")
	v.To = form.field("text", "to", "to", r.To, "The release to go back to, by id or version.")
	v.Subject = form.choice("subject", "Subject", "Everything of it that the earlier release would meet, also what other releases left that ran in between.", subjects)
	v.Verdict = form.choice("verdict", "The earlier release is", "Compatible: it can go on with it.", verdicts)
	v.Reason = form.field("", "reason", "How is that known?", r.Reason, "Approvers read it, and so does whoever asks later.")
	v.Counts = form.choice("lasts", "Counts for", "Then it is unknown again.", times)
	v.Counts.Problem = form.problem("expires_at")
	v.Problem = form.rest()
}

func newAttestationView(a promotion.Attestation, now time.Time) attestationView {
	v := attestationView{Subject: string(a.Subject), By: a.By, From: releaseLink(a.From, a.FromVersion), Since: a.Since, Reason: a.Reason, Posted: a.BuildID != 0,
		At: at(a.At, now), Until: at(a.ExpiresAt, now), Expired: !a.InForce(now), Mark: mark{Shape: "check", Tone: "good", Word: string(a.Verdict)}}
	if a.To != 0 {
		v.To = releaseLink(a.To, a.ToVersion)
	}
	switch {
	case v.Expired:
		v.Mark.Shape, v.Mark.Tone, v.Mark.Title = "dash", "off", "it does not count any more"
	case a.Verdict == promotion.AttestedIncompatible:
		v.Mark.Shape, v.Mark.Tone = "stop", "bad"
	}
	return v
}

// signOffURL is where what nobody has attested of a promotion's way back can be signed; empty when that is not what is unknown.
func signOffURL(p promotion.Promotion, gates []promotion.GateResult, unknowns []unknownView) string {
	for _, u := range unknowns {
		if !strings.HasSuffix(u.Code, "-unattested") {
			continue
		}
		for _, g := range gates {
			current, _ := g.Inputs["current"].(float64)
			candidate, _ := g.Inputs["candidate"].(float64)
			if g.Gate == promotion.GateRollbackSafe && current != 0 && candidate != 0 {
				return attestationsURL(p.Target.Application, strconv.Itoa(int(current)), strconv.Itoa(int(candidate)))
			}
		}
	}
	return ""
}
