package promotion

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/rollback"
)

// rollbackSafe asks the forward question: once this is live, can the target come back to what runs now? Of a rollback it asks
// whether the target can go there.
func (s *Service) rollbackSafe(ctx context.Context, f *situation) GateResult {
	if !slices.ContainsFunc(f.deployments, func(d Deployment) bool { return len(d.Images) > 0 }) {
		return s.dataAndImages(ctx, f)
	}
	running, err := s.running(ctx, f.Target)
	switch {
	case err != nil:
		return block("unknown whether there is a way back: %v", err)
	case running.ID == 0 || len(s.Readers) == 0:
		return s.dataAndImages(ctx, f)
	case running.ID == f.Release.ID && f.Kind != KindChange:
		return pass("%s runs here already", running.Version)
	}
	data, err := s.dataOfWayBack(ctx, f)
	if err != nil {
		return block("unknown whether there is a way back: %v", err)
	}
	holds, said := f.policy.checked("data", data.holding(rollback.Breaking))
	if holds.Verdict != Pass {
		return holds // with file and line, and for what is promoted as well as for what runs; what is unknown the verdict names, to be accepted
	}
	b := goingBack{target: f.Target, way: ImagesOnly, current: f.Release, candidate: running, askedBy: f.RequestedBy}
	if f.Kind == KindRollback {
		b.current, b.candidate = running, f.Release
		switch {
		case f.Restore.Revert:
			b.way, b.undone = Revert, f.Restore.Commit
		case f.Restore.Commit != "":
			b.way, b.commit = ImagesAndConfig, f.Restore.Commit
		}
	}
	b.data = data.of(b.current, b.candidate)
	verdicts, err := s.judgeBacks(ctx, f.Target, []goingBack{b})
	if err != nil {
		return block("unknown whether there is a way back: %v", err)
	}
	r := s.weighed(ctx, f, verdicts)
	if f.policy.CheckMode("data") == Report {
		r.Reason += said // the verdict names migrations, and not the lines in them
	}
	return r
}

// weighed takes accepted unknowns into account, stores the verdict and says what it means for the promotion.
func (s *Service) weighed(ctx context.Context, f *situation, verdicts []RollbackVerdict) GateResult {
	v := &verdicts[0]
	unknowns := v.Verdict.Acceptable()
	var accepted []Acceptance
	expires := v.until // the first of these and those
	if f.ID != 0 {
		all, err := s.Store.AcceptancesOf(ctx, f.ID)
		if err != nil {
			return block("what was accepted of the way back could not be read: %v", err)
		}
		accepted = slices.DeleteFunc(all, func(a Acceptance) bool { return !a.InForce(f.now) || !slices.Contains(unknowns, a.Unknown) })
		v.Facts.Acceptances = []rollback.Acceptance{}
		for _, a := range accepted {
			v.Facts.Acceptances, expires = append(v.Facts.Acceptances, a.weighed()), earliest(expires, a.ExpiresAt)
		}
		v.Verdict = rollback.Evaluate(v.Facts)
		if err := s.keepVerdicts(ctx, verdicts); err != nil {
			return block("the verdict on the way back could not be stored: %v", err)
		}
	}
	inputs := map[string]any{"verdict": v.ID, "current": v.Current.ID, "candidate": v.Candidate.ID, "overall": v.Verdict.Overall, "blocking": v.Verdict.Blocking, "modes": v.Facts.Modes,
		"unknowns": unknowns, "unchecked": v.Verdict.Unchecked, "unread": v.Unread}
	r := pass("%s", v.said(f.Kind, accepted))
	if v.Verdict.Gate == rollback.Blocked {
		r = block("%s", v.said(f.Kind, accepted))
	}
	return until(expires, r).with(inputs)
}

// said is the verdict in words.
func (v RollbackVerdict) said(kind ChangeKind, accepted []Acceptance) string {
	way := fmt.Sprintf("Coming back from this to %s is", v.Candidate.Version)
	if kind == KindRollback {
		way = fmt.Sprintf("Going back to %s is", v.Candidate.Version)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s.", way, v.Verdict.Overall)
	for _, reason := range v.Verdict.Blocking {
		fmt.Fprintf(&b, " %s", rollback.Explain(reason))
	}
	for _, a := range accepted {
		fmt.Fprintf(&b, " %s was accepted by %s until %s: %s.", a.Unknown, a.AcceptedBy, clock(a.ExpiresAt), strings.TrimSuffix(a.Reason, "."))
	}
	b.WriteString(leftOut(v.Verdict))
	if v.Verdict.Gate == rollback.Blocked && len(v.Notes) > 0 {
		fmt.Fprintf(&b, " Found: %s.", strings.Join(v.Notes, "; "))
	}
	if v.Verdict.Gate == rollback.Blocked && len(v.Unread) > 0 {
		fmt.Fprintf(&b, " Not read: %s.", strings.Join(v.Unread, "; "))
	}
	for _, name := range v.Verdict.Unchecked {
		fmt.Fprintf(&b, " %s", rollback.ExplainUnchecked(name))
	}
	return b.String()
}

// dataAndImages is what can be said where no cluster is read, or what runs belongs to no known release: whether what runs now could
// work with the database afterwards, and whether it could be pulled again. The other checks say that they are unchecked.
func (s *Service) dataAndImages(ctx context.Context, f *situation) GateResult {
	data, err := s.dataOfWayBack(ctx, f)
	if err != nil {
		return block("unknown whether there is a way back: %v", err)
	}
	if s.database(f.Target) != nil {
		s.compareDatabase(ctx, f.Target, data.steps())
	}
	unchecked := " Configuration, traffic and dependencies are not checked."
	if data.unchecked() {
		unchecked = " Configuration, data, traffic and dependencies are not checked."
	}
	holds, said := f.policy.checked("data", data.holding(rollback.Breaking, rollback.Unknown))
	if holds.Verdict != Pass {
		holds.Reason += unchecked
		return holds
	}
	var previous []string
	for _, d := range f.deployments {
		previous = append(previous, d.Images...)
	}
	if len(previous) == 0 {
		return pass("nothing runs here: there is nothing to go back to%s", said)
	}
	works := data.said()
	if said != "" {
		works = ""
	}
	holds, images := f.policy.checked("artifact", s.imagesNow(ctx, previous))
	switch {
	case holds.Verdict != Pass:
		holds.Reason += "." + unchecked + said
		return holds
	case images != "":
		return pass("nothing holds it.%s%s%s", images, said, unchecked)
	}
	return pass("what runs now can be pulled again%s.%s%s", works, said, unchecked).with(map[string]any{"running": previous, "data": data})
}

// imagesNow says whether images that run now could be pulled again.
func (s *Service) imagesNow(ctx context.Context, references []string) GateResult {
	for _, ref := range references {
		facts, err := s.imageNow(ctx, ref)
		switch {
		case err != nil:
			return block("unknown whether %s could be pulled again: %v", ref, err)
		case !facts.Present:
			return block("%s, which runs now, is no longer in the registry: there is no way back to it", ref)
		case len(facts.MissingBlobs) > 0:
			return block("%s, which runs now, is no longer whole in the registry, which lacks %s: there is no way back to it", ref,
				strings.Join(facts.MissingBlobs, ", "))
		}
	}
	return pass("")
}
