package promotion

import (
	"context"
	"errors"
	"fmt"
	"time"
)

func foundMerged(f *situation) bool {
	if f.PullRequest == PullRequestMerged {
		return false
	}
	onMain := f.Open() && f.Ours() && f.onMain.Commit.SHA != ""
	return f.onHost && f.host.State == PullRequestMerged || onMain && f.mergerUnknownUntil().IsZero()
}

// findMerged records a merge that is a fact already: by the host's button, by plain git, or
// because main has the same content from somewhere else.
func (s *Service) findMerged(_ context.Context, f *situation) (record, error) {
	sha, by := f.host.MergeSHA, f.host.MergedBy
	if f.host.State != PullRequestMerged {
		sha = f.onMain.Commit.SHA
		switch {
		case !f.fastForwarded():
			by = f.onMain.Commit.Author
		case by == "": // pushed by plain git: the commit is Sluice's own and does not know whom
			by = "unknown"
		}
	}
	return s.mergedAs(f, sha, Actor{Name: by, Kind: Person}), nil
}

// fastForwarded: main was moved to the very commit that Sluice wrote.
func (f *situation) fastForwarded() bool {
	return f.onMain.Commit.SHA != "" && f.onMain.Commit.SHA == f.HeadSHA
}

// naming is how long after main a host may say who merged.
const naming = 30 * time.Second

// mergerUnknownUntil is until when it is waited for the host to name who brought the content to main. What a host merges by
// squash or rebase main may show first, as a commit of whoever the host lets write it. Zero: it is known, or nobody will say it.
func (f *situation) mergerUnknownUntil() time.Time {
	until := f.onMain.FoundAt.Add(naming)
	if f.onMain.Commit.SHA == "" || !f.onHost || f.host.State != PullRequestOpen || f.host.MergedBy != "" || !f.now.Before(until) {
		return time.Time{}
	}
	return until
}

func (s *Service) mergedAs(f *situation, sha string, by Actor) record {
	r := record{by: by, action: "promotion.merged", message: fmt.Sprintf("merged into main as %s", short(sha))}
	although := ""
	if held := f.held(); f.Open() && len(held) > 0 {
		although = fmt.Sprintf(" although %s held it: %s", held[0].Gate, held[0].Reason)
	}
	if (f.Decision == Rejected || f.Decision == Cancelled) && by.Name != Sluice().Name { // Sluice's own was decided before
		although = fmt.Sprintf(" although it was %s by %s", f.Decision, f.DecidedBy)
	}
	r.message += although
	r.then = func(ctx context.Context, tx Tx, p Promotion) error {
		if err := tx.NameRevisionsPromotion(ctx, p.Target.ID, sha, p.ID); err != nil {
			return err
		}
		if err := s.markRolledBack(ctx, tx, p); err != nil || although == "" {
			return err
		}
		return s.violate(ctx, tx, Violation{Target: p.Target, PromotionID: p.ID, Kind: ViolationMerged, Actor: by.Name, Subject: sha, Message: r.message})
	}
	rendered := f.proposed.After.Hash
	r.apply = func(p *Promotion) {
		p.PullRequest, p.MergeSHA, p.MergedBy, p.MergedAt = PullRequestMerged, sha, by.Name, s.Now()
		if p.RenderedHash == "" {
			p.RenderedHash = rendered
		}
	}
	return r
}

// markRolledBack says of what was merged before a rollback that it was rolled back.
func (s *Service) markRolledBack(ctx context.Context, tx Tx, p Promotion) error {
	if p.Kind != KindRollback {
		return nil
	}
	before, err := tx.NewestMerged(ctx, p.Target.ID, p.ID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	left, err := leftBy(ctx, tx, p, before)
	if err != nil {
		return err
	}
	if p.Decision != Requested && left != p.Release.ID { // its hold ended with the decision that the merge went past
		if err := s.holdWith(ctx, tx, Sluice(), p); err != nil {
			return err
		}
	}
	if err := s.markRelease(ctx, tx, p, left); err != nil || before.ID == 0 || before.Release.ID == p.Release.ID || !before.RolledBackAt.IsZero() {
		return err
	}
	before.RolledBackAt = s.Now()
	return s.store(ctx, tx, Sluice(), before, "promotion.rolled-back", fmt.Sprintf("rolled back by promotion %d to release %d", p.ID, p.Release.Number))
}

func foundClosed(f *situation) bool {
	return f.PullRequest == PullRequestOpen && f.onHost && f.host.State == PullRequestClosed
}

func (s *Service) findClosed(_ context.Context, f *situation) (record, error) {
	by, how := Actor{Name: f.host.ClosedBy, Kind: Person}, "closed without a merge"
	if f.host.BaseRef != f.site.BaseBranch {
		how = fmt.Sprintf("turned to %s and ended there: %s has nothing of it", f.host.BaseRef, f.site.BaseBranch)
	}
	return record{by: by, action: "promotion.closed", message: fmt.Sprintf("pull request #%d was %s", f.Number, how), apply: func(p *Promotion) {
		p.PullRequest = PullRequestClosed
		if p.Decision == Requested {
			p.Decision, p.DecidedBy, p.DecidedAt, p.DecisionReason = Cancelled, by.Name, s.Now(), "the pull request was "+how
		}
	}}, nil
}

func targetGone(f *situation) bool { return f.Open() && f.Target.Removed }

// withdraw ends a promotion whose overlay is gone from main: there is nothing left to change.
func (s *Service) withdraw(_ context.Context, f *situation) (record, error) {
	why := fmt.Sprintf("%s is gone from main", f.Target.Path)
	return record{by: Sluice(), action: "promotion.cancelled", message: "cancelled: " + why, apply: func(p *Promotion) {
		p.Decision, p.DecidedBy, p.DecidedAt, p.DecisionReason = Cancelled, Sluice().Name, s.Now(), why
	}}, nil
}

func mustClose(f *situation) bool {
	return f.Ours() && !f.Open() && f.onHost && f.host.State == PullRequestOpen
}

func (s *Service) closePullRequest(ctx context.Context, f *situation) (record, error) {
	why := fmt.Sprintf("This promotion is %s: %s", f.State(), f.DecisionReason)
	if f.PullRequest == PullRequestMerged {
		why = fmt.Sprintf("main has this content since %s.", short(f.MergeSHA))
	}
	if f.SupersededBy != 0 {
		why += fmt.Sprintf(" See %s/promotions/%d.", s.PublicURL, f.SupersededBy)
	}
	err := f.site.Host.Close(ctx, f.Number, why)
	if errors.Is(err, ErrNotMergeable) && f.PullRequest == PullRequestMerged {
		err = nil // the host has noticed by now that it is merged
	}
	if err != nil {
		return record{}, fmt.Errorf("close pull request #%d: %w", f.Number, err)
	}
	return record{by: Sluice(), action: "promotion.closed", message: fmt.Sprintf("pull request #%d closed", f.Number), apply: func(p *Promotion) {
		if p.PullRequest == PullRequestOpen {
			p.PullRequest = PullRequestClosed
		}
	}}, nil
}

// mustPropose: the gates let a pull request be opened, or main has moved so that
// the one that is open would conflict or deploy something else.
func mustPropose(f *situation) bool {
	if !f.Ours() || !f.Open() || f.Behind != 0 || f.proposeFailed != nil || f.proposed.empty() {
		return false
	}
	if f.HeadSHA == "" {
		return len(holding(f.gates, PhaseOpen)) == 0
	}
	if f.onHost && !f.headIsOwn {
		return false // a person pushed to the branch; never written over
	}
	return f.onHost && f.host.HeadSHA != f.HeadSHA || errors.Is(f.mergeFailed, ErrConflict) || f.mergeFailed == nil && f.merged.After.Hash != f.RenderedHash
}

func (s *Service) propose(ctx context.Context, f *situation) (record, error) {
	head, err := f.site.Repository.Propose(ctx, Proposal{
		Branch: f.Branch, Base: f.head, Expected: f.branchAt, Files: f.proposed.Files, Deletes: f.proposed.Deletes, Message: commitMessage(f),
		Author: signature(f),
	})
	if err != nil {
		return record{}, fmt.Errorf("push %s: %w", f.Branch, err)
	}
	found, err := s.lint(ctx, f, head)
	if err != nil {
		return record{}, err
	}
	source, err := s.sourceChanges(ctx, f)
	if err != nil {
		return record{}, err
	}
	base, rendered, diff, branch := f.head, f.proposed.After.Hash, f.proposed.Diff, f.Branch
	r := record{by: Sluice(), action: "promotion.proposed", message: fmt.Sprintf("commit %s on branch %s", short(head), branch)}
	if f.RenderedHash != "" && f.RenderedHash != rendered {
		r.message += "; it renders something else than before, so approvals given until now no longer count"
	}
	r.apply = func(p *Promotion) {
		p.Branch, p.BaseSHA, p.HeadSHA, p.RenderedHash, p.Diff, p.Lint, p.Source = branch, base, head, rendered, diff, found, source
	}
	return r, nil
}

// lint says what is unwise in the change that a head brings to main. What lint cannot read it says instead: it informs, and holds nothing.
func (s *Service) lint(ctx context.Context, f *situation, head string) ([]string, error) {
	merged, _, err := f.site.Repository.Merged(ctx, f.head, head)
	if err != nil {
		return nil, fmt.Errorf("read the merge of %s: %w", short(head), err)
	}
	found, err := s.Linter.Introduced(ctx, f.tree, merged, f.Target, f.rules.rules)
	if err != nil {
		return []string{fmt.Sprintf("lint could not look: %v", err)}, nil
	}
	return found, nil
}

// signature is who commits; the time is the promotion's own, so that the same change on the same commit is the same commit.
func signature(f *situation) Signature {
	return Signature{Name: "Sluice", Email: "sluice@localhost", When: f.RequestedAt}
}

func authorOf(s Signature) string { return s.Name + " <" + s.Email + ">" }

func mustOpen(f *situation) bool {
	return f.Open() && f.PullRequest == PullRequestNone && f.HeadSHA != ""
}

func (s *Service) openPullRequest(ctx context.Context, f *situation) (record, error) {
	pr, err := f.site.Host.Open(ctx, NewPullRequest{Branch: f.Branch, Head: f.HeadSHA, Title: title(f.Promotion), Body: f.body})
	if err != nil {
		return record{}, fmt.Errorf("open a pull request for %s: %w", f.Branch, err)
	}
	return record{by: Sluice(), action: "promotion.opened", message: fmt.Sprintf("pull request #%d is open", pr.Number), apply: func(p *Promotion) {
		p.PullRequest, p.Number, p.URL, p.BodyHash = PullRequestOpen, pr.Number, pr.URL, hashOf(f.body)
	}, then: func(ctx context.Context, tx Tx, p Promotion) error {
		if !p.changesOthers() {
			return nil
		}
		return tx.Enqueue(ctx, Work{Kind: WorkLook, Repository: p.Target.Repository}) // what else it changes is judged too
	}}, nil
}

func mustReport(f *situation) bool {
	if !f.Ours() && f.HeadSHA == "" {
		return false // not judged yet
	}
	rejected := !f.Ours() && f.Decision == Rejected && f.host.HeadSHA == f.HeadSHA
	return f.PullRequest == PullRequestOpen && (f.Open() || rejected) && f.onHost && (hashOf(f.body) != f.BodyHash || f.status().key(f) != f.StatusReported)
}

// report brings the pull request's body and the status sluice/gates up to date.
func (s *Service) report(ctx context.Context, f *situation) (record, error) {
	status := f.status()
	if hashOf(f.body) != f.BodyHash {
		if err := s.tell(ctx, f); err != nil {
			return record{}, fmt.Errorf("update pull request #%d: %w", f.Number, err)
		}
	}
	key := status.key(f)
	if key != f.StatusReported {
		status.URL = fmt.Sprintf("%s/promotions/%d", s.PublicURL, f.ID)
		if err := f.site.Host.SetStatus(ctx, f.HeadSHA, status); err != nil {
			return record{}, fmt.Errorf("set status %s on %s: %w", status.Context, short(f.HeadSHA), err)
		}
	}
	hash := hashOf(f.body)
	return record{apply: func(p *Promotion) { p.BodyHash, p.StatusReported = hash, key }}, nil
}

// tell writes the body of Sluice's own pull request, or a comment on somebody else's.
func (s *Service) tell(ctx context.Context, f *situation) error {
	if !f.Ours() {
		return f.site.Host.Comment(ctx, f.Number, fmt.Sprintf("<!-- sluice: promotion %d -->", f.ID), f.body)
	}
	return f.site.Host.Update(ctx, f.Number, title(f.Promotion), f.body)
}

func (f *situation) mergeable() bool {
	return f.PullRequest == PullRequestOpen && f.Open() &&
		len(f.held()) == 0
}

// mergesItself: the policy wants the merge, whoever else does.
func (f *situation) mergesItself() bool { return f.policy.AutomaticMerge && f.Ours() }

func mayMerge(f *situation) bool {
	return f.mergeable() && f.onMain.Commit.SHA == "" && (f.mergesItself() || f.MergeAskedBy != "" || f.MergeStands())
}

func (s *Service) merge(ctx context.Context, f *situation) (record, error) {
	by := Sluice()
	switch {
	case f.MergeAskedBy != "":
		by = Actor{Name: f.MergeAskedBy, Kind: Person}
	case !f.mergesItself():
		by = Actor{Name: f.StandingMerge.By, Kind: Person}
		if stands, err := s.stillStands(ctx, f); err != nil || !stands {
			return nothing(), err
		}
	}
	f.now = s.Now() // since the look a window may have closed, an approval expired, or somebody lost a role
	if err := s.lookAtHolders(ctx, f); err != nil {
		return record{}, err
	}
	f.gates = s.evaluate(ctx, f)
	if err := s.judgeSiblings(ctx, f); err != nil {
		return record{}, fmt.Errorf("judge what else pull request #%d changes: %w", f.Number, err)
	}
	if len(f.held()) > 0 {
		return nothing(), nil // the next look says what holds it
	}
	sha, err := f.site.Host.Merge(ctx, f.Number, f.HeadSHA, mergeMessage(f), by, f.mergeMethod())
	if err != nil {
		return record{}, fmt.Errorf("merge pull request #%d: %w", f.Number, err)
	}
	return s.mergedAs(f, sha, by), nil
}

// mergeMethod is what the policy says of the target. One merge brings all that the pull request changes, so where its targets
// disagree the repository's own method is used.
func (f *situation) mergeMethod() MergeMethod {
	method := f.policy.MergeMethod
	for _, other := range f.siblings {
		if other.Open() && (f.rules.rules == nil || f.rules.rules.For(other.Target).MergeMethod != method) {
			return ""
		}
	}
	return method
}

// nothing is the record of a step that turned out not to be its turn.
func nothing() record { return record{apply: func(*Promotion) {}} }

// mergeLapsed: a person asked to merge and a gate closed before it was done. The wish does not
// outlive the moment: hours later nobody would expect the merge. Whoever does expect it asks for it to stand (StandingMerge).
func mergeLapsed(f *situation) bool {
	return f.PullRequest == PullRequestOpen && f.Open() && f.MergeAskedBy != "" && !f.mergeable()
}

func (s *Service) lapse(_ context.Context, f *situation) (record, error) {
	held := f.held()
	return record{by: Sluice(), action: "promotion.merge-lapsed",
		message: fmt.Sprintf("not merged as %s asked: %s: %s", f.MergeAskedBy, held[0].Gate, held[0].Reason),
		apply:   func(p *Promotion) { p.MergeAskedBy = "" }}, nil
}

func mustCleanUp(f *situation) bool {
	return !f.CleanedUp && !f.Open() && (!f.onHost || f.host.State != PullRequestOpen)
}

func (s *Service) cleanUp(ctx context.Context, f *situation) (record, error) {
	if f.branchAt != "" && f.Ours() {
		if err := f.site.Repository.DeleteBranch(ctx, f.Branch, f.branchAt); err != nil {
			return record{}, fmt.Errorf("delete branch %s: %w", f.Branch, err)
		}
	}
	return record{apply: func(p *Promotion) { p.CleanedUp = true }}, nil
}
