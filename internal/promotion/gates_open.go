package promotion

import (
	"context"
	"fmt"
	"strings"
)

// gate is one condition: its name, the phase it guards and how it is judged.
type gate struct {
	name  string
	phase Phase
	judge func(context.Context, *situation) GateResult
}

func (s *Service) gates() []gate {
	return []gate{
		{GatePolicy, PhaseOpen, s.policyRead},
		{GateImmutableReference, PhaseOpen, s.immutableReference},
		{GateArtifactAvailable, PhaseOpen, s.artifactAvailable},
		{GateUpstreamVerified, PhaseOpen, s.upstreamVerified},
		{GateRenders, PhaseOpen, s.renders},
		{GatePlaintextSecret, PhaseOpen, s.plaintextSecret},
		{GateContent, PhaseMerge, s.content},
		{GateApprovals, PhaseMerge, s.approvalsGiven},
		{GateEvidence, PhaseMerge, s.evidenceGiven},
		{GateHold, PhaseMerge, s.holdReleased},
		{GateSyncWindow, PhaseMerge, s.syncWindow},
		{GateRollbackSafe, PhaseMerge, s.rollbackSafe},
		{GateDeletions, PhaseMerge, s.deletions},
		{GateBranchProtected, PhaseMerge, s.branchProtected},
		{GatePolicy, PhaseSync, s.policyRead},
		{GateContent, PhaseSync, s.syncedContent},
		{GateApprovals, PhaseSync, s.approvalsGiven},
		{GateEvidence, PhaseSync, s.evidenceGiven},
		{GateHold, PhaseSync, s.syncHeld},
		{GateSyncWindow, PhaseSync, s.syncWindow},
		{GateProjectWindow, PhaseSync, s.projectWindow},
		{GateServerDryRun, PhaseSync, s.serverDryRun},
		{GateConcurrency, PhaseSync, s.concurrency},
		{GateRecovered, PhaseVerify, s.recovered},
	}
}

// evaluate judges every gate that still matters for the promotion.
func (s *Service) evaluate(ctx context.Context, f *situation) []GateResult {
	var results []GateResult
	for _, g := range s.gates() {
		if g.name == GateConcurrency { // the last, also where it is off
			f.ready = f.matters(PhaseSync) && len(holding(results, PhaseSync)) == 0
		}
		mode := f.policy.Mode(g.name)
		if mode == Off || !f.matters(g.phase) {
			continue
		}
		r := g.judge(ctx, f)
		r.Gate, r.Phase, r.Mode, r.EvaluatedAt = g.name, g.phase, mode, f.now
		results = append(results, f.overridden(r))
	}
	return results
}

func (f *situation) matters(phase Phase) bool {
	switch phase {
	case PhaseSync:
		return f.PullRequest == PullRequestMerged && f.policy.SyncBySluice && f.SyncedAt.IsZero()
	case PhaseVerify:
		return f.Kind == KindRollback && len(f.policy.Recovery) > 0 && !f.LiveAt.IsZero() && f.VerifiedAt.IsZero() && f.OvertakenAt.IsZero()
	}
	return f.Open()
}

// policyRead asks that there is a policy to decide by. One that is broken on main leaves the one before in force.
func (s *Service) policyRead(_ context.Context, f *situation) GateResult {
	if f.noRules != nil {
		return block("%v", f.noRules)
	}
	return pass("decided by the policy of commit %s", short(f.rules.Commit)).with(map[string]any{"commit": f.rules.Commit, "policy": f.rules.ID})
}

func (s *Service) immutableReference(_ context.Context, f *situation) GateResult {
	if f.Kind == KindChange {
		return f.changedByDigest()
	}
	var left []string
	for _, a := range f.Release.Artifacts {
		switch {
		case a.Digest == "" && a.CarriedFrom == 0:
			return block("%s runs as %s: a tag can point elsewhere tomorrow. Post a build of it with its digest.", a.Name, a.Reference())
		case a.Digest == "":
			left = append(left, a.Reference())
		}
	}
	inputs := map[string]any{"references": f.wanted(), "left as they are": left}
	if len(left) > 0 {
		return pass("what is promoted is named by its digest; CI never posted %s, left as the overlay has it", strings.Join(left, ", ")).with(inputs)
	}
	return pass("every image is named by its digest").with(inputs)
}

func (s *Service) artifactAvailable(ctx context.Context, f *situation) GateResult {
	for _, ref := range f.wanted() {
		facts, err := s.Registry.Image(ctx, ref)
		switch {
		case err != nil:
			return block("the registry could not be asked for %s: %v. It will be asked again.", ref, err)
		case !facts.Present:
			return block("the registry does not have %s. Push it again, or promote another release.", ref)
		case len(facts.MissingBlobs) > 0:
			return block("the registry lacks %s of %s. Push the image again.", strings.Join(facts.MissingBlobs, ", "), ref)
		}
		_, digest, _ := strings.Cut(ref, "@")
		if err := s.rememberPlatforms(ctx, digest, facts.Manifests); err != nil {
			return block("the platforms of %s could not be stored: %v", ref, err)
		}
	}
	return pass("the registry has every manifest and layer").with(map[string]any{"references": f.wanted()})
}

// rememberPlatforms keeps which digests an index holds, so that a container's
// imageID can be recognised by either.
func (s *Service) rememberPlatforms(ctx context.Context, index string, manifests []PlatformManifest) error {
	if len(manifests) == 0 {
		return nil
	}
	known, err := s.Store.Platforms(ctx, []string{index})
	if err != nil || len(known) >= len(manifests) {
		return err
	}
	return s.Store.Tx(ctx, func(tx Tx) error { return tx.SavePlatforms(ctx, index, manifests) })
}

// upstreamVerified asks for the same release, verified in every environment of the rank before.
func (s *Service) upstreamVerified(ctx context.Context, f *situation) GateResult {
	upstream, err := s.upstream(ctx, f.Target)
	if err != nil {
		return block("the environments before %s could not be read: %v", f.Target.Environment, err)
	}
	switch {
	case len(upstream) == 0:
		return pass("%s is %s's first environment", f.Target.Environment, f.Target.Application)
	case f.Kind == KindChange && len(f.changedImages()) == 0:
		return pass("no image changes")
	case f.Release.ID == 0:
		return block("no release has the images that %s would run: CI posted no build of them", f.Target.Path)
	case f.Kind == KindRollback:
		return s.ranBefore(ctx, f)
	case f.Hotfix && len(f.skipped) > 0:
		return pass("a hotfix goes past %s; it is owed there once it is live here", environments(f.skipped)).with(map[string]any{"skipped": environments(f.skipped)})
	}
	verified, err := s.Store.VerifiedOn(ctx, f.Release.ID, targetIDs(upstream))
	if err != nil {
		return block("what was verified before %s could not be read: %v", f.Target.Environment, err)
	}
	inputs := map[string]any{}
	var in, missing []Target
	for _, t := range upstream {
		if verified[t.ID] == 0 {
			missing = append(missing, t)
			continue
		}
		in = append(in, t)
		inputs[t.Environment] = fmt.Sprintf("promotion/%d", verified[t.ID])
	}
	switch {
	case f.policy.UpstreamAny && len(in) == 0:
		return wait("release %d is not verified in any of %s yet. Promote it to one of them first.", f.Release.Number, environments(missing)).with(inputs)
	case !f.policy.UpstreamAny && len(missing) > 0:
		return wait("release %d is not verified in %s yet. Promote it there first.", f.Release.Number, environments(missing)).with(inputs)
	}
	return pass("the same digests are verified in %s", environments(in)).with(inputs)
}

// ranBefore lets a rollback go to what main had here before, whatever is upstream now.
func (s *Service) ranBefore(ctx context.Context, f *situation) GateResult {
	revisions, err := s.Store.RevisionsOf(ctx, f.Target.ID, historyShown)
	if err != nil {
		return block("what %s ran before could not be read: %v", f.Target.Path, err)
	}
	for _, v := range revisions {
		if v.ReleaseID == f.Release.ID {
			return pass("main had release %d here at commit %s", f.Release.Number, short(v.Commit.SHA)).with(map[string]any{"commit": v.Commit.SHA})
		}
	}
	return block("main never had release %d in %s: there is nothing to go back to. Promote it instead.", f.Release.Number, f.Target.Environment)
}

// upstream lists the application's targets in the nearest rank before this one.
func (s *Service) upstream(ctx context.Context, t Target) ([]Target, error) {
	all, err := s.Store.Targets(ctx)
	if err != nil {
		return nil, err
	}
	return UpstreamOf(t, all), nil
}

// UpstreamOf lists, among all, the targets of the same application in the nearest rank before t: where a
// release is verified first.
func UpstreamOf(t Target, all []Target) []Target {
	var before []Target
	for _, o := range all {
		if o.ApplicationID != t.ApplicationID || o.Rank >= t.Rank {
			continue
		}
		if len(before) > 0 && o.Rank > before[0].Rank {
			before = nil
		}
		if len(before) == 0 || o.Rank == before[0].Rank {
			before = append(before, o)
		}
	}
	return before
}

func (s *Service) renders(ctx context.Context, f *situation) GateResult {
	if f.proposeFailed != nil {
		return block("%s cannot be changed so: %v", f.Target.Path, f.proposeFailed)
	}
	if problem := s.overrides(ctx, f); problem != "" {
		return block("%s", problem)
	}
	reason := "only the intended images change in what %s renders"
	if f.Kind == KindChange || f.Restore.Commit != "" {
		reason = "%s renders with the change"
	} else if moved := f.proposed.movedCharts(); moved != "" {
		reason = "%s renders these images, and what the chart " + moved + " changes: see the diff"
	}
	return pass(reason, f.Target.Path).
		with(map[string]any{"main": f.head, "before": f.proposed.Before.Hash, "after": f.proposed.After.Hash})
}

// overrides says what of the engine's own objects would undo the change, or why that cannot be told.
func (s *Service) overrides(ctx context.Context, f *situation) string {
	images := wantedImages(f.Release, f.policy)
	if f.Kind == KindChange || len(images) == 0 || f.proposed.empty() {
		return ""
	}
	after, err := f.site.Repository.Patched(ctx, f.head, f.proposed.Files, f.proposed.Deletes)
	if err != nil {
		return fmt.Sprintf("the change cannot be rendered as the engine does: %v", err)
	}
	for _, d := range f.deployments {
		if len(d.EngineObject) == 0 {
			continue
		}
		found, err := s.Engine.Overrides(after, f.Target.Path, d.EngineObject, f.site.URL, f.site.BaseBranch, images)
		if err != nil {
			return fmt.Sprintf("%s cannot be rendered as %s in %s does: %v", f.Target.Path, d.Key.Name, d.Key.Cluster, err)
		}
		if len(found) > 0 {
			return strings.Join(found, "; ")
		}
	}
	return ""
}

func (s *Service) plaintextSecret(_ context.Context, f *situation) GateResult {
	change := f.proposed
	if f.HeadSHA != "" {
		change = f.merged
	}
	if n := len(change.PlaintextSecrets); n > 0 {
		return block("the change adds %s in plain text. Revoke that credential, then seal or encrypt the new one.",
			strings.Join(change.PlaintextSecrets, ", "))
	}
	return pass("no Secret in plain text is added")
}

func targetIDs(targets []Target) []int64 {
	ids := make([]int64, len(targets))
	for i, t := range targets {
		ids[i] = t.ID
	}
	return ids
}

func environments(targets []Target) string {
	names := make([]string, len(targets))
	for i, t := range targets {
		names[i] = t.Environment
	}
	return strings.Join(names, " and ")
}
