package promotion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// situation is a promotion together with the facts of one look: what main
// holds, what the host says of the pull request, what the cluster runs.
type situation struct {
	*Promotion
	site        Site
	rules       compiled // of the config repository; rules.rules is nil when none can be read
	noRules     error    // why
	policy      EnvironmentPolicy
	now         time.Time
	head        string // of the base branch
	tree        fs.FS  // of head
	branchAt    string // where the promotion's branch is on the remote
	host        PullRequest
	onHost      bool // the host knows the pull request
	headIsOwn   bool // the branch is where Sluice moved it, recorded or not
	approvals   []Approval
	authors     authors // of what the release brings; only where they may not approve it
	deployments []Deployment
	progress    progress
	soaked      stretch // how long it is known to have been live
	line        []Lined // who syncs and who waits to
	ready       bool    // nothing holds its sync, the line aside
	newerMerged int64
	freezes     []Freeze    // that have not ended
	holds       []Hold      // of the target, and of everything
	pauses      []SyncPause // of the target
	overrides   []Override  // of the target, not expired
	holders     holders     // of the roles on which the above and the approvals rest
	reviews     []Review    // at the host
	newPolicy   bool        // the merge of a person's pull request changes policy files
	siblings    []sibling
	before      []Promotion    // that go before it in the queue, in order
	skipped     []Target       // of a hotfix: where its release is not verified, of the environments before
	unjudged    []Target       // that a restored base changes too, and no sibling judges yet
	replacedBy  TargetRevision // the commit by hand after which main wants something else; zero when there is none
	build       Build
	gates       []GateResult
	body        string         // of the pull request, as it should be now
	onMain      TargetRevision // of main, when main has the release already; else zero

	proposed      Change // the edit on today's main, before the pull request is open
	proposeFailed error
	merged        Change // today's main against today's main with the head merged
	mergeFailed   error
}

// look gathers the facts. It changes nothing.
func (s *Service) look(ctx context.Context, id int64) (*situation, error) {
	p, err := s.Store.Promotion(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read promotion %d: %w", id, err)
	}
	site, err := s.site(p.Target)
	if err != nil {
		return nil, err
	}
	if p.Branch == "" {
		p.Branch = branchName(p)
	}
	f := &situation{Promotion: &p, site: site, now: s.Now()}
	if err := s.lookAtPolicy(ctx, f); err != nil {
		return nil, err
	}
	if f.head, err = site.Repository.Fetch(ctx); err != nil {
		return nil, fmt.Errorf("fetch config repository %s: %w", p.Target.Repository, err)
	}
	if f.tree, err = site.Repository.Tree(ctx, f.head); err != nil {
		return nil, fmt.Errorf("read %s of config repository %s: %w", short(f.head), p.Target.Repository, err)
	}
	for _, gather := range []func(context.Context, *situation) error{s.lookAtPullRequest, s.lookAtStore, s.lookAtSiblings, s.lookAtChange, s.lookAtDeployments, s.lookAtLine} {
		if err := gather(ctx, f); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// lookAtPolicy finds what holds for the target. Without a policy that can be read nothing goes out: the gate policy says why.
func (s *Service) lookAtPolicy(ctx context.Context, f *situation) error {
	f.rules, f.noRules = s.rulesOf(ctx, s.Store, f.Target.Repository)
	switch {
	case isRefusal(f.noRules):
		f.policy = DefaultPolicy(RankProd)
		return nil
	case f.noRules != nil:
		return f.noRules
	}
	f.policy = f.rules.rules.For(f.Target).Of(*f.Promotion)
	return nil
}

func (s *Service) lookAtPullRequest(ctx context.Context, f *situation) (err error) {
	if f.Ours() {
		if f.branchAt, err = f.site.Repository.Branch(ctx, f.Branch); err != nil {
			return fmt.Errorf("look for branch %s: %w", f.Branch, err)
		}
	}
	if f.Number == 0 {
		return nil
	}
	f.host, err = f.site.Host.Get(ctx, f.Number)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("ask the host about pull request #%d: %w", f.Number, err)
	}
	f.onHost = err == nil
	if f.host.State == PullRequestMerged && f.host.BaseRef != f.site.BaseBranch {
		// Somebody changed its base branch and merged it there: of main this is a pull request that was closed.
		f.host.State, f.host.ClosedBy, f.host.MergeSHA, f.host.MergedBy = PullRequestClosed, f.host.MergedBy, "", ""
	}
	if f.onHost && f.host.State == PullRequestOpen && s.Identify != nil && f.policy.Approvals > 0 {
		if f.reviews, err = f.site.Host.Reviews(ctx, f.Number); err != nil {
			return fmt.Errorf("read the reviews of pull request #%d: %w", f.Number, err)
		}
	}
	if f.onHost && f.host.State == PullRequestOpen && f.Ours() {
		f.headIsOwn = f.host.HeadSHA == f.HeadSHA || s.wrote(ctx, f, f.host.HeadSHA)
	}
	return nil
}

func (s *Service) lookAtStore(ctx context.Context, f *situation) (err error) {
	if f.freezes, err = s.Store.Freezes(ctx, f.now); err != nil {
		return fmt.Errorf("read freezes: %w", err)
	}
	if f.holds, err = s.Store.HoldsOf(ctx, f.Target.ID); err != nil {
		return fmt.Errorf("read holds of %s: %w", f.Target.Path, err)
	}
	if f.pauses, err = s.Store.SyncPauses(ctx, f.Target.ID); err != nil {
		return fmt.Errorf("read sync pauses of %s: %w", f.Target.Path, err)
	}
	if f.overrides, err = s.Store.OverridesOf(ctx, f.Target.ID, f.now); err != nil {
		return fmt.Errorf("read overrides of %s: %w", f.Target.Path, err)
	}
	if f.approvals, err = s.Store.Approvals(ctx, f.ID); err != nil {
		return fmt.Errorf("read approvals of promotion %d: %w", f.ID, err)
	}
	if err := s.lookAtHolders(ctx, f); err != nil {
		return err
	}
	if f.deployments, err = s.Store.DeploymentsOf(ctx, f.Target.ID); err != nil {
		return fmt.Errorf("read deployments of %s: %w", f.Target.Path, err)
	}
	if f.Release.BuildID != 0 {
		if f.build, err = s.Store.BuildByID(ctx, f.Release.BuildID); err != nil {
			return fmt.Errorf("read build %d: %w", f.Release.BuildID, err)
		}
	}
	if err := s.lookAtQueue(ctx, f); err != nil {
		return err
	}
	if err := s.lookAtSkipped(ctx, f); err != nil {
		return err
	}
	if f.PullRequest == PullRequestMerged {
		if f.newerMerged, err = s.Store.NewerMerged(ctx, *f.Promotion); err != nil {
			return fmt.Errorf("look for a newer merge to %s: %w", f.Target.Path, err)
		}
		return s.lookAtReplacement(ctx, f)
	}
	return nil
}

// lookAtReplacement finds the later commit that made main want another release than the one that was merged.
func (s *Service) lookAtReplacement(ctx context.Context, f *situation) error {
	latest, err := s.Store.LatestRevision(ctx, f.Target.ID)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("read what main renders for %s: %w", f.Target.Path, err)
	case f.Kind == KindChange || latest.ReleaseID == f.Release.ID || latest.Commit.SHA == f.MergeSHA:
		return nil
	}
	if after, err := f.site.Repository.Contains(ctx, latest.Commit.SHA, f.MergeSHA); err == nil && after {
		f.replacedBy = latest
	}
	return nil
}

// lookAtChange renders what the promotion would change today. Failing to render
// is a finding for the gates, not a failure of the look.
func (s *Service) lookAtChange(ctx context.Context, f *situation) error {
	if !f.Open() {
		return nil
	}
	if !f.Ours() {
		return s.lookAtHead(ctx, f)
	}
	f.proposed, f.proposeFailed = s.change(ctx, f, f.head, f.tree)
	if f.proposeFailed == nil && f.proposed.empty() {
		latest, err := s.Store.LatestRevision(ctx, f.Target.ID)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return fmt.Errorf("read what main renders for %s: %w", f.Target.Path, err)
		}
		if latest.ReleaseID == f.Release.ID || f.Kind == KindChange {
			f.onMain = latest
		}
	}
	if f.HeadSHA == "" {
		return nil
	}
	merged, _, err := f.site.Repository.Merged(ctx, f.head, f.HeadSHA)
	if err != nil {
		f.mergeFailed = err
		return nil
	}
	f.merged, f.mergeFailed = s.Manifests.Compare(f.tree, merged, f.Target.Path)
	f.unjudged, err = s.unjudged(ctx, f)
	return err
}

// held lists the gates that keep the change from being merged, those of what the same pull request changes elsewhere too.
func (f *situation) held() []GateResult {
	held := holdingMerge(f.gates)
	for _, other := range f.siblings {
		held = append(held, other.held...)
	}
	return held
}

// approved counts valid approvals: for the result that would be merged today, by
// people who had the role and have it still, each once, never the requester. until is when one of them may end to count.
func (f *situation) approved() (by, ignored []string, until time.Time) {
	seen := map[string]bool{}
	for _, a := range f.approvals {
		switch {
		case a.Decision != "approve" || seen[a.Actor]:
		case a.Actor == f.RequestedBy:
			ignored = append(ignored, a.Actor+" asked for the promotion")
		case !(Actor{Roles: a.Roles}).Has(f.policy.ApproverRoles...):
			ignored = append(ignored, a.Actor+" has no approver's role")
		case f.holders.lost(a.author(), f.policy.ApproverRoles) != "":
			ignored = append(ignored, f.holders.lost(a.author(), f.policy.ApproverRoles))
		case f.authors.wrote(a.Actor):
			ignored = append(ignored, a.Actor+" wrote a part of it")
		case !f.holders.inOne(a.author(), f.policy.ApproverGroups):
			ignored = append(ignored, a.Actor+" is not in the group "+strings.Join(f.policy.ApproverGroups, " or "))
		case f.policy.ApprovalExpiry > 0 && f.now.Sub(a.DecidedAt) >= f.policy.ApprovalExpiry:
			ignored = append(ignored, fmt.Sprintf("%s approved more than %s ago", a.Actor, f.policy.ApprovalExpiry))
		case a.RenderedHash != f.RenderedHash:
			ignored = append(ignored, a.Actor+" approved another content")
		default:
			seen[a.Actor] = true
			by = append(by, a.Actor)
			until = earliest(until, f.holders[holder{a.Actor, a.Kind}].until)
			if f.policy.ApprovalExpiry > 0 {
				until = earliest(until, a.DecidedAt.Add(f.policy.ApprovalExpiry))
			}
		}
	}
	return by, ignored, until
}

func short(sha string) string {
	if len(sha) > 10 {
		return sha[:10]
	}
	return sha
}
