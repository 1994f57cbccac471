package web

import (
	"fmt"
	"strings"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// exceptionView is a violation or an override: something that went past a gate.
type exceptionView struct {
	ID                  int64
	Mark                mark
	Where               link
	What, Who           string
	At                  moment
	Promotion, Incident link
	Gates               string
	Until               moment // of an override
	InForce             bool
	ReviewedBy, Said    string
	ReviewedAt          moment
	Action              string // address of the review form, empty when this person has none
	Review              fieldView
	NoReview            string // why this person has none
}

// offer adds the review form, when this person may review it, and tells whether a refusal is shown beside its field.
func (e *exceptionView) offer(tried reviewAttempt, kind, did string, by promotion.Actor) (shown bool) {
	switch {
	case by.Name == "":
		e.NoReview = "Sign in to review it."
		return false
	case !by.Has(deciders...):
		e.NoReview = "To review it needs the role " + anyOf(deciders) + "."
		return false
	case did == by.Name:
		e.NoReview = "It was you: somebody else has to review it."
		return false
	}
	id := fmt.Sprintf("review-%s-%d", kind, e.ID)
	e.Review = fieldView{ID: id, Name: "review", Label: "What you found, and what follows from it"}
	e.Action = fmt.Sprintf("/%ss/%d/review", kind, e.ID)
	if tried.kind != kind || tried.id != e.ID {
		return false
	}
	e.Review.Value = tried.text
	if tried.refused.Field != "review" {
		return false
	}
	e.Review.Problem = tried.refused.Message
	return true
}

func (w *Web) newViolationView(v promotion.Violation) exceptionView {
	return exceptionView{ID: v.ID, Mark: violationMark(v.Kind), Where: targetLink(v.Target), What: v.Message, Who: v.Actor, At: at(v.FoundAt, w.now()),
		Promotion: promotionLink(v.PromotionID), ReviewedBy: v.ClosedBy, ReviewedAt: at(v.ClosedAt, w.now()), Said: v.Review}
}

func newOverrideView(o promotion.Override, now time.Time) exceptionView {
	v := exceptionView{ID: o.ID, Where: targetLink(o.Target), What: o.Reason, Who: o.GivenBy, At: at(o.GivenAt, now), Gates: strings.Join(o.Gates, ", "),
		Until: at(o.ExpiresAt, now), InForce: inForce(o, now), ReviewedBy: o.ReviewedBy, ReviewedAt: at(o.ReviewedAt, now), Said: o.Review,
		Mark: mark{Shape: "glass", Tone: "off", Word: "over"}}
	if o.Incident != "" {
		v.Incident = outside("incident", o.Incident)
	}
	if v.InForce {
		v.Mark.Tone, v.Mark.Word = "bad", "in force"
	}
	return v
}

// Plural tells whether the override opens several gates.
func (e exceptionView) Plural() bool { return strings.Contains(e.Gates, ", ") }

func inForce(o promotion.Override, now time.Time) bool { return now.Before(o.ExpiresAt) }

func unreviewed(overrides []promotion.Override) int {
	n := 0
	for _, o := range overrides {
		if o.ReviewedBy == "" {
			n++
		}
	}
	return n
}

// toReview counts in words; empty when there is nothing to review.
func toReview(violations, overrides int) string {
	var parts []string
	if violations > 0 {
		parts = append(parts, plural(violations, "violation"))
	}
	if overrides > 0 {
		parts = append(parts, plural(overrides, "override"))
	}
	return strings.Join(parts, " and ")
}

func targetLink(t promotion.Target) link {
	return link{Text: t.Application + " in " + t.Environment, URL: targetURL(t.Application, t.Environment)}
}

func violationMark(k promotion.ViolationKind) mark {
	word := map[promotion.ViolationKind]string{promotion.ViolationMerged: "merged against a gate", promotion.ViolationPushed: "pushed past review",
		promotion.ViolationSynced: "synced around Sluice", promotion.ViolationEdited: "edited in the cluster"}[k]
	if word == "" {
		word = string(k)
	}
	return mark{Shape: "warning", Tone: "bad", Word: word}
}
