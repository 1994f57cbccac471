package web

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

type promotionView struct {
	ID                       int64
	Application, Environment string
	Version                  string
	Number                   int
	ReleaseID                int64
	Unproven                 bool
	Digests                  []shortened
	Charts                   []string
	TargetURL                string
	Carries, Kind            string
	Person                   bool // wrote the pull request, not Sluice
	RequestedBy, Reason      string
	RequestedAt              moment
	State                    mark
	Sentence                 string
	PullRequest              link
	PullRequestState         string
	Merged                   bool
	Merge                    shortened
	MergedBy                 string
	MergedAt                 moment
	Source                   []sourceView
	StandingMergeBy          string // who asked for the merge when the gates pass, while that stands
	StandingMergeAt          moment
	Replaced                 *link
	Behind                   link // in the queue

	Overrides []exceptionView
	Siblings  []siblingView
	Evidence  []evidenceView
	WayBack   *wayBackView // what of it is unknown or was accepted; nil when nothing is
	UndoURL   string       // of the form that undoes exactly what it changed, for who may
	Override  string       // address of the form that opens the gates that hold, for who may

	Problem   *promotion.Error // shown on top
	Phases    []phaseView
	Diff      []diffLine
	NoDiff    string
	Actions   []actionView
	Refusals  []refusalView
	NoAction  string
	SignInURL string // for who is not signed in and there is something to do
	Approvals []approvalView
	Events    []eventView
	AllEvents string
}

type approvalView struct {
	Mark                  mark
	Actor, Roles, Comment string
	At                    moment
	Stale                 bool
}

// siblingView is another promotion of the same pull request: merging one merges all.
type siblingView struct {
	Link     link
	Target   string
	State    mark
	WaitsFor string
}

type eventView struct {
	At             moment
	Actor, Message string
}

func newPromotionView(f promotionFacts, by promotion.Actor, tried attempt, now time.Time) promotionView {
	p := f.promotion
	v := promotionView{
		ID: p.ID, Application: p.Target.Application, Environment: p.Target.Environment, Version: p.Release.Version, Number: p.Release.Number,
		ReleaseID: p.Release.ID, Unproven: p.Release.Origin == promotion.FromImport, Digests: each(references(p.Release), shorten), Charts: chartsOf(p.Release),
		TargetURL: targetURL(p.Target.Application, p.Target.Environment), Carries: carries(p), Kind: kindSaid(p), Person: !p.Ours(), RequestedBy: p.RequestedBy, Reason: p.Reason, RequestedAt: at(p.RequestedAt, now),
		State: stateMark(p.State()), Sentence: sentence(p), PullRequestState: string(p.PullRequest),
		Merged: p.PullRequest == promotion.PullRequestMerged, Merge: shorten(p.MergeSHA), MergedBy: p.MergedBy, MergedAt: at(p.MergedAt, now),
		Phases: phases(f.gates, p.Target, now), Diff: changeLines(p.Diff), NoDiff: noDiff(p),
	}
	if by.Name == "" {
		v.SignInURL = fmt.Sprintf("/sign-in?next=/promotions/%d", p.ID)
	}
	if p.Number != 0 {
		v.PullRequest = outside(fmt.Sprintf("#%d", p.Number), p.URL)
	}
	v.Source = each(p.Source, newSourceView)
	if p.MergeStands() {
		v.StandingMergeBy, v.StandingMergeAt = p.StandingMerge.By, at(p.StandingMerge.At, now)
	}
	if p.Open() {
		v.Behind = promotionLink(p.Behind)
	}
	if p.SupersededBy != 0 {
		l := promotionLink(p.SupersededBy)
		v.Replaced = &l
	}
	v.Evidence = each(f.evidence, func(e promotion.Evidence) evidenceView { return newEvidenceView(e, now) })
	v.Overrides = each(f.overrides, func(o promotion.Override) exceptionView { return newOverrideView(o, now) })
	v.Siblings = each(f.siblings, newSiblingView)
	v.Override, v.UndoURL = overrideOf(f, by), undoOf(p, by)
	v.Problem = tried.onTop()
	v.WayBack = newWayBackView(f, by, tried, now)
	v.act(f, by, tried)
	v.Approvals = each(f.approvals, func(a promotion.Approval) approvalView { return newApprovalView(a, p, now) })
	v.timeline(f.events, now)
	return v
}

func newSiblingView(p promotion.Promotion) siblingView {
	v := siblingView{Link: promotionLink(p.ID), Target: p.Target.Application + " in " + p.Target.Environment, State: stateMark(p.State())}
	if !p.State().Finished() {
		v.WaitsFor = p.WaitsFor
	}
	return v
}

// overrideOf leads to breaking the glass over the gates that hold; empty for who may not, or when none that can be overridden holds.
func overrideOf(f promotionFacts, by promotion.Actor) string {
	var gates []string
	for _, g := range f.gates {
		if g.Holds() && slices.Contains(promotion.Overridable(), g.Gate) && !slices.Contains(gates, g.Gate) {
			gates = append(gates, g.Gate)
		}
	}
	if len(gates) == 0 || !by.Has(glassBreakers...) || f.promotion.State().Finished() {
		return ""
	}
	return overrideURL(f.promotion.Target.Application, f.promotion.Target.Environment, gates...)
}

// undoOf leads to undoing what a promotion changed; empty for who may not, and where nothing is left to undo.
func undoOf(p promotion.Promotion, by promotion.Actor) string {
	if p.MergeSHA == "" || p.State() == promotion.StateRolledBack || !by.Has(managers...) {
		return ""
	}
	return undoURL(p.Target, p.ID)
}

// sentence says what is happening and who must act next.
func sentence(p promotion.Promotion) string {
	var why string
	if p.DecisionReason != "" {
		why = ": " + p.DecisionReason
	}
	switch p.State() {
	case promotion.StateVerified:
		return fmt.Sprintf("%s runs in %s, is healthy and stayed so. Nobody has to do anything.", carries(p), p.Target.Environment)
	case promotion.StateCancelled:
		return fmt.Sprintf("%s cancelled it%s. Nobody has to do anything.", p.DecidedBy, why)
	case promotion.StateRejected:
		return fmt.Sprintf("%s rejected it%s. Whoever asked for it reads why and decides what comes next.", p.DecidedBy, why)
	case promotion.StateSuperseded:
		return "Something newer took its place" + why + ". Nobody has to do anything here."
	case promotion.StateRolledBack:
		return "It was rolled back: what ran before runs again."
	}
	switch {
	case p.State() == promotion.StateFailed:
		return strings.TrimRight(p.Failure, ". ") + ". A release manager looks for the cause, then retries, or promotes another release."
	case p.WaitsFor != "":
		return p.WaitsFor
	}
	return "Sluice has not looked at it yet; it does within seconds."
}

func noDiff(p promotion.Promotion) string {
	if p.PullRequest == promotion.PullRequestNone {
		return "Not known yet: it is rendered when the pull request is opened."
	}
	return "Nothing that is rendered changes."
}

func newApprovalView(a promotion.Approval, p promotion.Promotion, now time.Time) approvalView {
	v := approvalView{Mark: mark{Shape: "check", Tone: "good", Word: "approved"}, Actor: a.Actor, Roles: roleNames(a.Roles),
		Comment: a.Comment, At: at(a.DecidedAt, now), Stale: a.RenderedHash != p.RenderedHash}
	if a.Decision == "reject" {
		v.Mark = mark{Shape: "stop", Tone: "bad", Word: "rejected"}
	}
	return v
}

// timeline shows events oldest first; they come newest first.
func (v *promotionView) timeline(events []promotion.AuditEvent, now time.Time) {
	if len(events) > timelineLength {
		events = events[:timelineLength]
		v.AllEvents = fmt.Sprintf("/audit?promotion=%d", v.ID)
	}
	v.Events = each(events, func(e promotion.AuditEvent) eventView {
		return eventView{At: at(e.At, now), Actor: e.Actor.Name, Message: e.Message}
	})
	slices.Reverse(v.Events)
}

// onTop is the refusal that is not shown beside a field.
func (a attempt) onTop() *promotion.Error {
	if a.refused == nil || a.refused.Field == "comment" || a.refused.Field == "reason" || a.action == "accept" && a.refused.Field != "" {
		return nil
	}
	return a.refused
}
