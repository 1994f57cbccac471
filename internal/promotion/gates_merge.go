package promotion

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// content asks that merging the pull request into today's main renders exactly what was recorded.
func (s *Service) content(_ context.Context, f *situation) GateResult {
	if f.HeadSHA == "" {
		return wait("no pull request is open yet")
	}
	if f.onHost && f.host.State == PullRequestOpen && f.host.BaseRef != f.site.BaseBranch {
		return block("somebody turned pull request #%d from %s to %s: turn it back, or cancel and promote again", f.Number, f.site.BaseBranch, f.host.BaseRef)
	}
	if !f.Ours() {
		return f.changeRecorded()
	}
	if f.onHost && f.host.State == PullRequestOpen && f.host.HeadSHA != f.HeadSHA && !f.headIsOwn {
		return block("the pull request's head is %s, not %s as Sluice made it: somebody pushed to the branch. Cancel and promote again.",
			short(f.host.HeadSHA), short(f.HeadSHA))
	}
	switch {
	case errors.Is(f.mergeFailed, ErrConflict):
		return wait("main changed the same file; Sluice writes the change anew")
	case f.mergeFailed != nil:
		return block("the merge result cannot be rendered: %v", f.mergeFailed)
	case f.merged.After.Hash != f.RenderedHash:
		return block("merging now would deploy something else than what was recorded: main has moved. Sluice writes the change anew.")
	}
	if f.onHost && f.host.State == PullRequestOpen && f.host.Draft {
		return wait("somebody made pull request #%d a draft: it is merged when somebody says that it is ready", f.Number)
	}
	if len(f.unjudged) > 0 {
		return wait("the shared configuration changes %s too, which has to be judged first", paths(f.unjudged))
	}
	return f.contentRecorded()
}

func (f *situation) contentRecorded() GateResult {
	return pass("the merge renders exactly what was recorded").
		with(map[string]any{"main": f.head, "head": f.HeadSHA, "rendered": f.RenderedHash})
}

// changeRecorded asks the same of a person's pull request, whose head only they move.
func (f *situation) changeRecorded() GateResult {
	switch {
	case errors.Is(f.mergeFailed, ErrConflict):
		return block("it conflicts with main: rebase it")
	case f.proposeFailed != nil:
		return block("the merge result cannot be judged: %v", f.proposeFailed)
	case f.justMerged() && f.merged.After.Hash != f.RenderedHash:
		return block("what was merged renders something else than what was recorded")
	case f.justMerged():
		return f.contentRecorded()
	case f.host.HeadSHA != f.HeadSHA || f.merged.After.Hash != f.RenderedHash:
		return wait("its head or main has moved: Sluice judges it anew")
	case f.host.Draft:
		return wait("it is a draft")
	}
	return f.contentRecorded()
}

func (s *Service) approvalsGiven(_ context.Context, f *situation) GateResult {
	if f.policy.Approvals == 0 {
		return pass("%s needs no approval", f.Target.Environment)
	}
	if s.Identify != nil {
		if _, objections := s.reviewed(f); len(objections) > 0 {
			return block("%s asked for changes at the host: only they can approve or withdraw that", strings.Join(objections, ", ")).
				with(map[string]any{"asked for changes": objections})
		}
	}
	if f.authors.unknown != "" {
		return block("who wrote what release %d brings is not known, and authors may not approve it: %s", f.Release.Number, f.authors.unknown).
			with(map[string]any{"authors": f.authors.names})
	}
	by, ignored, expires := f.approved()
	inputs := map[string]any{"needed": f.policy.Approvals, "by": by, "rendered": f.RenderedHash, "not counted": ignored}
	if len(by) >= f.policy.Approvals {
		return until(expires, pass("approved by %s", strings.Join(by, ", ")).with(inputs))
	}
	requester := f.RequestedBy
	if requester == "" {
		requester = "whoever asks for it" // of a plan
	}
	who := "with the role " + roleNames(f.policy.ApproverRoles)
	if len(f.policy.ApproverGroups) > 0 {
		who += " and in the group " + strings.Join(f.policy.ApproverGroups, " or ")
	}
	reason := fmt.Sprintf("%d of %d approvals. Somebody other than %s, %s, must approve.", len(by), f.policy.Approvals, requester, who)
	if len(ignored) > 0 {
		reason += " Not counted: " + strings.Join(ignored, "; ") + "."
	}
	return wait("%s", reason).with(inputs)
}

func (s *Service) deletions(_ context.Context, f *situation) GateResult {
	change := f.proposed
	if f.HeadSHA != "" {
		change = f.merged
	}
	var names []string
	stateful := false
	for _, o := range change.Removed {
		names = append(names, o.Object)
		stateful = stateful || o.Stateful
	}
	prunes := f.policy.SyncBySluice || len(f.deployments) == 0
	for _, d := range f.deployments {
		prunes = prunes || s.Engine.Prunes(d.EngineObject)
	}
	inputs := map[string]any{"removed": names, "pruned": prunes}
	switch {
	case len(names) == 0:
		return pass("nothing is deleted")
	case !prunes:
		return pass("Git no longer has %s; Argo CD does not prune here, so they stay in the cluster until somebody deletes them", strings.Join(names, ", ")).with(inputs)
	case len(change.After.Images) == 0 && len(change.Before.Images) > 0:
		return block("this deletes everything that runs here: %s", strings.Join(names, ", ")).with(inputs)
	case stateful:
		return block("this deletes %s, and data with it", strings.Join(names, ", ")).with(inputs)
	}
	return pass("this deletes %s", strings.Join(names, ", ")).with(inputs)
}

func (s *Service) branchProtected(ctx context.Context, f *situation) GateResult {
	p, err := f.site.Host.Protection(ctx)
	if err != nil {
		return block("the protection of the base branch could not be read: %v", err)
	}
	if len(p.Missing) > 0 {
		return block("the base branch is not fully protected: %s", strings.Join(p.Missing, "; ")).
			with(map[string]any{"missing": p.Missing})
	}
	return pass("the base branch is protected")
}

func roleNames(roles []Role) string {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = string(r)
	}
	return strings.Join(names, " or ")
}
