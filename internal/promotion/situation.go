package promotion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// situation is a promotion together with the facts of one look: what main
// holds, what the host says of the pull request, what the cluster runs.
type situation struct {
	*Promotion
	site        Site
	policy      EnvironmentPolicy
	now         time.Time
	head        string // of the base branch
	tree        fs.FS  // of head
	branchAt    string // where the promotion's branch is on the remote
	host        PullRequest
	onHost      bool // the host knows the pull request
	approvals   []Approval
	deployments []Deployment
	progress    progress
	newerMerged int64
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
	f := &situation{Promotion: &p, site: site, policy: s.Policy(p.Target), now: s.Now()}
	if f.head, err = site.Repository.Fetch(ctx); err != nil {
		return nil, fmt.Errorf("fetch config repository %s: %w", p.Target.Repository, err)
	}
	if f.tree, err = site.Repository.Tree(ctx, f.head); err != nil {
		return nil, fmt.Errorf("read %s of config repository %s: %w", short(f.head), p.Target.Repository, err)
	}
	for _, gather := range []func(context.Context, *situation) error{s.lookAtPullRequest, s.lookAtStore, s.lookAtChange, s.lookAtDeployments} {
		if err := gather(ctx, f); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (s *Service) lookAtPullRequest(ctx context.Context, f *situation) (err error) {
	if f.branchAt, err = f.site.Repository.Branch(ctx, f.Branch); err != nil {
		return fmt.Errorf("look for branch %s: %w", f.Branch, err)
	}
	if f.Number == 0 {
		return nil
	}
	f.host, err = f.site.Host.Get(ctx, f.Number)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("ask the host about pull request #%d: %w", f.Number, err)
	}
	f.onHost = err == nil
	return nil
}

func (s *Service) lookAtStore(ctx context.Context, f *situation) (err error) {
	if f.approvals, err = s.Store.Approvals(ctx, f.ID); err != nil {
		return fmt.Errorf("read approvals of promotion %d: %w", f.ID, err)
	}
	if f.deployments, err = s.Store.DeploymentsOf(ctx, f.Target.ID); err != nil {
		return fmt.Errorf("read deployments of %s: %w", f.Target.Path, err)
	}
	if f.Release.BuildID != 0 {
		if f.build, err = s.Store.BuildByID(ctx, f.Release.BuildID); err != nil {
			return fmt.Errorf("read build %d: %w", f.Release.BuildID, err)
		}
	}
	if f.PullRequest == PullRequestMerged {
		if f.newerMerged, err = s.Store.NewerMerged(ctx, *f.Promotion); err != nil {
			return fmt.Errorf("look for a newer merge to %s: %w", f.Target.Path, err)
		}
	}
	return nil
}

// lookAtChange renders what the promotion would change today. Failing to render
// is a finding for the gates, not a failure of the look.
func (s *Service) lookAtChange(ctx context.Context, f *situation) error {
	if !f.Open() {
		return nil
	}
	f.proposed, f.proposeFailed = s.Manifests.SetImages(f.tree, f.Target.Path, wanted(f.Release))
	if f.proposeFailed == nil && len(f.proposed.Files) == 0 {
		latest, err := s.Store.LatestRevision(ctx, f.Target.ID)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return fmt.Errorf("read what main renders for %s: %w", f.Target.Path, err)
		}
		if latest.ReleaseID == f.Release.ID {
			f.onMain = latest
		}
	}
	if f.HeadSHA == "" {
		return nil
	}
	merged, err := f.site.Repository.Merged(ctx, f.head, f.HeadSHA)
	if err != nil {
		f.mergeFailed = err
		return nil
	}
	f.merged, f.mergeFailed = s.Manifests.Compare(f.tree, merged, f.Target.Path)
	return nil
}

// held lists the gates that keep the change from being merged.
func (f *situation) held() []GateResult {
	return append(holding(f.gates, PhaseOpen), holding(f.gates, PhaseMerge)...)
}

// approved counts valid approvals: for the result that would be merged today, by
// people with the role, each once, never the requester.
func (f *situation) approved() (by []string, ignored []string) {
	seen := map[string]bool{}
	for _, a := range f.approvals {
		switch {
		case a.Decision != "approve" || seen[a.Actor]:
		case a.Actor == f.RequestedBy:
			ignored = append(ignored, a.Actor+" asked for the promotion")
		case !(Actor{Roles: a.Roles}).Has(f.policy.ApproverRoles...):
			ignored = append(ignored, a.Actor+" has no approver's role")
		case a.RenderedHash != f.RenderedHash:
			ignored = append(ignored, a.Actor+" approved another content")
		default:
			seen[a.Actor] = true
			by = append(by, a.Actor)
		}
	}
	return by, ignored
}

// wanted lists the references to be set. What was carried forward under a tag
// was never built by CI: it is configuration, and stays as the overlay has it.
func wanted(r Release) []string {
	var refs []string
	for _, a := range r.Artifacts {
		if a.Digest != "" {
			refs = append(refs, a.Reference())
		}
	}
	return refs
}

func short(sha string) string {
	if len(sha) > 10 {
		return sha[:10]
	}
	return sha
}
