package web

import (
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// evidenceView is a verification result of a release.
type evidenceView struct {
	Mark                 mark
	Name                 link
	Environment, Summary string
	Source, PostedBy     string
	At, Expires          moment
	Expired              bool
}

func newEvidenceView(e promotion.Evidence, now time.Time) evidenceView {
	v := evidenceView{Mark: mark{Shape: "check", Tone: "good", Word: "pass"}, Name: outside(e.Name, e.URL), Environment: e.Environment, Summary: e.Summary,
		Source: e.Source, At: at(e.PostedAt, now), Expires: at(e.ExpiresAt, now), Expired: !e.ExpiresAt.IsZero() && !now.Before(e.ExpiresAt)}
	if e.PostedBy != e.Source {
		v.PostedBy = e.PostedBy
	}
	switch {
	case e.Verdict != "pass":
		v.Mark = mark{Shape: "stop", Tone: "bad", Word: e.Verdict}
	case v.Expired:
		v.Mark = mark{Shape: "clock", Tone: "off", Word: "pass, expired"}
	}
	return v
}
