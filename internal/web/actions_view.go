package web

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Who may do what. The use cases refuse everybody else whatever a page shows.
var (
	managers      = []promotion.Role{promotion.RoleReleaseManager, promotion.RoleAdmin}
	deciders      = []promotion.Role{promotion.RoleApprover, promotion.RoleReleaseManager, promotion.RoleAdmin}
	glassBreakers = []promotion.Role{promotion.RoleBreakGlass}
)

// actionView is a form that this person may send.
type actionView struct {
	Name     string
	Does     string
	Warning  string // what to know before it is pressed
	Field    *fieldView
	Rendered string // what an approval is bound to
	Buttons  []buttonView
}

type buttonView struct {
	Name, Text, Class string
	Elsewhere         bool // sends to its own address, not to the form's
}

// refusalView is an action that this person may not use now, and why.
type refusalView struct{ Name, Text, Why string }

// act lists what can be done, and why the rest cannot.
func (v *promotionView) act(f promotionFacts, by promotion.Actor, tried attempt) {
	p := f.promotion
	if p.State().Finished() {
		v.NoAction, v.SignInURL = "Nothing: it is over.", ""
		return
	}
	if by.Name == "" {
		v.NoAction = "Sign in to see what you can do."
		return
	}
	v.NoAction = "Nothing now."
	for _, a := range []struct {
		name, text string
		roles      []promotion.Role
		blocked    string
		view       func() actionView
	}{
		{"approve", "Approve", deciders, notToDecide(f, by), func() actionView { return decideForm(f, tried) }},
		{"merge", "Merge", deciders, notToMerge(p), func() actionView { return mergeForm(f) }},
		{"standing-merge", "Merge when the gates pass", deciders, notToMerge(p), func() actionView { return standingMergeForm(p) }},
		{"sync", "Sync", deciders, notToSync(f), func() actionView {
			return actionView{Name: "sync", Warning: repeatedSync(f), Does: "Syncs now: evaluates the sync gates again and has the cluster apply the merge. It is refused while a gate holds.",
				Buttons: []buttonView{{Name: "sync", Text: "Sync", Class: "primary"}}}
		}},
		{"retry", "Retry", managers, "", func() actionView {
			return actionView{Name: "retry", Warning: repeatedSync(f), Does: "Looks again at once; a sync that failed is started again.",
				Buttons: []buttonView{{Name: "retry", Text: "Retry", Class: important(p.State() == promotion.StateFailed)}}}
		}},
		{"cancel", "Cancel", managers, notToCancel(p), func() actionView { return cancelForm(p, tried) }},
	} {
		switch {
		case !by.Has(a.roles...):
			v.Refusals = append(v.Refusals, refusalView{a.name, a.text, "needs the role " + anyOf(a.roles)})
		case a.blocked != "":
			v.Refusals = append(v.Refusals, refusalView{a.name, a.text, a.blocked})
		default:
			v.Actions = append(v.Actions, a.view())
		}
	}
}

func anyOf(roles []promotion.Role) string {
	text := ""
	for i, r := range roles {
		if i > 0 {
			text += " or "
		}
		text += string(r)
	}
	return text
}

func important(yes bool) string {
	if yes {
		return "primary"
	}
	return ""
}

func notToDecide(f promotionFacts, by promotion.Actor) string {
	p := f.promotion
	switch {
	case !p.Open() && !awaitsApproval(f):
		return "it is merged: there is nothing left to decide"
	case p.RenderedHash == "":
		return "there is no pull request yet, so nothing to look at"
	case slices.ContainsFunc(f.approvals, func(a promotion.Approval) bool {
		return a.Actor == by.Name && a.Decision == "approve" && a.RenderedHash == p.RenderedHash
	}):
		return "you approved it already"
	case p.RequestedBy == by.Name:
		return "you asked for it, so somebody else must approve; to stop it, cancel it"
	}
	return ""
}

// awaitsApproval: it was merged past the approvals, and its sync is held until they are given.
func awaitsApproval(f promotionFacts) bool {
	return f.promotion.PullRequest == promotion.PullRequestMerged && slices.ContainsFunc(f.gates, func(g promotion.GateResult) bool {
		return g.Gate == promotion.GateApprovals && g.Phase == promotion.PhaseSync && g.Holds()
	})
}

func decideForm(f promotionFacts, tried attempt) actionView {
	does := "Approve: you looked at what changes and it may go out. The approval counts only for exactly this content. Reject: it ends here."
	p := f.promotion
	missing := slices.ContainsFunc(f.gates, func(g promotion.GateResult) bool { return g.Gate == promotion.GateApprovals && g.Holds() })
	if !missing {
		does = "No approval is missing. " + does
	}
	field := &fieldView{ID: "comment", Name: "comment", Label: "Comment (a rejection needs one)"}
	if tried.action == "approve" || tried.action == "reject" {
		field.Value = tried.text
		if tried.refused.Field == "comment" {
			field.Problem = tried.refused.Message
		}
	}
	return actionView{Name: "approve", Does: does, Field: field, Rendered: p.RenderedHash, Buttons: []buttonView{
		{Name: "approve", Text: "Approve", Class: important(missing)}, {Name: "reject", Text: "Reject", Class: "danger", Elsewhere: true}}}
}

func notToMerge(p promotion.Promotion) string {
	switch {
	case !p.Open():
		return "it is merged already"
	case p.State() != promotion.StateOpen:
		return "there is no pull request yet"
	case p.MergeAskedBy != "":
		return "asked for by " + p.MergeAskedBy + "; Sluice does it now"
	}
	return ""
}

// mergeForm stays usable while a gate holds: the gates shown may be old, and are evaluated again.
func mergeForm(f promotionFacts) actionView {
	v := actionView{Name: "merge", Does: "Merges the pull request. Every gate is evaluated again first."}
	i := slices.IndexFunc(f.gates, func(g promotion.GateResult) bool { return g.Phase != promotion.PhaseSync && g.Holds() })
	if i >= 0 {
		v.Does += fmt.Sprintf(" Held now by %s: it is refused as long as that is so.", f.gates[i].Gate)
	}
	v.Buttons = []buttonView{{Name: "merge", Text: "Merge", Class: important(i < 0)}}
	return v
}

// standingMergeForm asks for what merges later, or takes it back.
func standingMergeForm(p promotion.Promotion) actionView {
	if p.MergeStands() {
		return actionView{Name: "withdraw-merge", Does: p.StandingMerge.By + " asked for it to be merged when the gates pass. Withdrawn, it waits for somebody to merge it.",
			Buttons: []buttonView{{Name: "withdraw-merge", Text: "Do not merge by itself"}}}
	}
	return actionView{Name: "standing-merge", Rendered: p.RenderedHash,
		Does:    "Merges later, without you: as soon as every gate passes, however long that takes. It ends by itself when anything else would be deployed than what you see.",
		Buttons: []buttonView{{Name: "standing-merge", Text: "Merge when the gates pass"}}}
}

// repeatedSync warns where the cluster is as the merge says and does not work: people try another sync first.
func repeatedSync(f promotionFacts) string {
	p := f.promotion
	for _, d := range f.deployed {
		applied := !p.SyncedAt.IsZero() || d.Revision == p.MergeSHA || d.ComparedRevision == p.MergeSHA
		if applied && noHelp(d) {
			return fmt.Sprintf("%s in %s is synced and degraded: it is as Git says, so a repeated sync will not help.", d.Key.Name, d.Key.Cluster)
		}
	}
	return ""
}

// noHelp tells whether a sync changes nothing of what is wrong.
func noHelp(d promotion.Deployment) bool {
	return d.Sync == promotion.Synced && d.Health == promotion.Degraded
}

func notToSync(f promotionFacts) string {
	p := f.promotion
	switch {
	case p.PullRequest != promotion.PullRequestMerged:
		return "it is not merged yet"
	case !p.SyncedAt.IsZero():
		return strings.TrimSuffix("the cluster applied it already. "+repeatedSync(f), ". ")
	case p.State() == promotion.StateFailed:
		return "it failed: use Retry"
	case !p.SyncStartedAt.IsZero():
		return "the cluster is at it"
	}
	return ""
}

func notToCancel(p promotion.Promotion) string {
	switch {
	case !p.Open():
		return "it is merged: promote another release, or restore what was there before"
	case !p.Ours():
		return "the pull request is " + p.RequestedBy + "'s own: close it where it is, or reject it here"
	}
	return ""
}

func cancelForm(p promotion.Promotion, tried attempt) actionView {
	does := "Cancels the promotion; nothing is deployed."
	if p.PullRequest == promotion.PullRequestOpen {
		does = "Cancels the promotion and closes its pull request; nothing is deployed."
	}
	field := &fieldView{ID: "reason", Name: "reason", Label: "Reason"}
	if tried.action == "cancel" {
		field.Value = tried.text
		if tried.refused.Field == "reason" {
			field.Problem = tried.refused.Message
		}
	}
	return actionView{Name: "cancel", Does: does, Field: field, Buttons: []buttonView{{Name: "cancel", Text: "Cancel promotion", Class: "danger"}}}
}
