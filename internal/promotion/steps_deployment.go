package promotion

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// progress is how far the deployments of a merged promotion are.
type progress struct {
	syncing bool   // an operation applies this merge
	synced  bool   // every deployment has applied a revision that contains the merge
	live    bool   // and runs exactly these digests, healthy
	failure string // why one of them does not get there
}

// lookAtDeployments compares what the cluster was seen to do with the merge.
func (s *Service) lookAtDeployments(ctx context.Context, f *situation) error {
	if f.PullRequest != PullRequestMerged || len(f.deployments) == 0 {
		return nil
	}
	platforms, err := s.Store.Platforms(ctx, digests(f.Release))
	if err != nil {
		return fmt.Errorf("read the platforms of release %d: %w", f.Release.Number, err)
	}
	rendered, err := s.renderedDigests(ctx, f.site, *f.Promotion)
	if err != nil {
		return err
	}
	if err := s.lookAtSoak(ctx, f); err != nil {
		return err
	}
	f.progress = progress{synced: true, live: true}
	for _, d := range f.deployments {
		applied := s.holdsMerge(ctx, f, d.Revision) || s.holdsMerge(ctx, f, d.ComparedRevision)
		applying := s.holdsMerge(ctx, f, d.OperationRev)
		f.progress.syncing = f.progress.syncing || applying && d.Operation == "Running"
		f.progress.synced = f.progress.synced && applied
		f.progress.live = f.progress.live && applied && d.Sync == Synced && d.Health == Healthy && runs(f.Release, f.policy, rendered, d, platforms)
		// Of a sync that is to be started (again), the operation before says nothing.
		operated := !f.policy.SyncBySluice || !f.SyncStartedAt.IsZero()
		if failed := applying && operated && (d.Operation == "Failed" || d.Operation == "Error") || applied && d.Health == Degraded; failed {
			f.progress.failure = fmt.Sprintf("%s in %s: %s", d.Key.Name, d.Key.Cluster, d.Message)
		}
	}
	return nil
}

// holdsMerge tells whether a revision contains the merge. A revision that
// the mirror does not know is not taken for one that does.
func (s *Service) holdsMerge(ctx context.Context, f *situation, revision string) bool {
	if revision == "" {
		return false
	}
	holds, err := f.site.Repository.Contains(ctx, revision, f.MergeSHA)
	return err == nil && holds
}

// renderedDigests are the release's digests that the merge renders: an overlay need not run all of a release's images.
func (s *Service) renderedDigests(ctx context.Context, site Site, p Promotion) ([]string, error) {
	tree, err := site.Repository.Tree(ctx, p.MergeSHA)
	if err != nil {
		return nil, fmt.Errorf("read %s of config repository %s: %w", short(p.MergeSHA), p.Target.Repository, err)
	}
	r, err := s.Manifests.Render(tree, p.Target.Path)
	if err != nil {
		return digests(p.Release), nil // what is broken on main never runs, and the target's page says so
	}
	var rendered []string
	for _, image := range r.Images {
		promoted := p.Kind == KindChange || slices.Contains(digests(p.Release), digestOf(image.Reference))
		if digest := digestOf(image.Reference); promoted && digest != "" && !slices.Contains(rendered, digest) {
			rendered = append(rendered, digest)
		}
	}
	return rendered, nil
}

// runs tells whether every rendered digest of the release runs and no other digest of its
// repositories does. An imageID may be the index's digest or a platform's.
func runs(r Release, policy EnvironmentPolicy, rendered []string, d Deployment, platforms map[string]string) bool {
	running := map[string]bool{}
	for _, c := range d.RunningImages {
		repository, digest, ok := strings.Cut(c.ImageID, "@")
		if !ok {
			return false
		}
		if index, known := platforms[digest]; known {
			digest = index
		}
		if r.uses(RepositoryOf(policy.PostedAs(repository))) && !slices.Contains(digests(r), digest) {
			return false
		}
		running[digest] = true
	}
	for _, digest := range rendered {
		if !running[digest] {
			return false
		}
	}
	return len(running) > 0 && len(rendered) > 0
}

func digests(r Release) []string {
	var all []string
	for _, a := range r.Artifacts {
		if a.Digest != "" {
			all = append(all, a.Digest)
		}
	}
	return all
}

func overtaken(f *situation) bool {
	return f.PullRequest == PullRequestMerged && f.LiveAt.IsZero() && f.OvertakenAt.IsZero() &&
		(f.newerMerged != 0 || f.replacedBy.Commit.SHA != "" || f.Target.Removed)
}

// overtake ends the wait for a merge that will never be live: main wants something else before it was.
func (s *Service) overtake(_ context.Context, f *situation) (record, error) {
	why := fmt.Sprintf("promotion %d was merged before this one was live", f.newerMerged)
	switch {
	case f.newerMerged != 0:
	case f.Target.Removed:
		why = fmt.Sprintf("%s is gone from main", f.Target.Path)
	default:
		why = fmt.Sprintf("commit %s by %s replaced it before it was live", short(f.replacedBy.Commit.SHA), f.replacedBy.Commit.Author)
	}
	return record{by: Sluice(), action: "promotion.overtaken", message: why,
		apply: func(p *Promotion) { p.OvertakenAt, p.SupersededBy = s.Now(), f.newerMerged }}, nil
}

// deploymentMoved: what the cluster does is not what is recorded. What was verified stays verified.
func deploymentMoved(f *situation) bool {
	if f.PullRequest != PullRequestMerged || len(f.deployments) == 0 || !f.VerifiedAt.IsZero() || !f.OvertakenAt.IsZero() {
		return false
	}
	g := f.progress
	return g.synced && f.SyncedAt.IsZero() || g.syncing && f.SyncStartedAt.IsZero() ||
		g.live == f.LiveAt.IsZero() || g.failure != f.Failure
}

func (s *Service) follow(_ context.Context, f *situation) (record, error) {
	g, now := f.progress, s.Now()
	r := record{by: Sluice(), action: "promotion.followed", message: f.describe()}
	if held := holding(f.gates, PhaseSync); f.policy.SyncBySluice && f.SyncStartedAt.IsZero() && (g.syncing || g.synced) && len(held) > 0 {
		message := fmt.Sprintf("%s was synced around Sluice although %s held it: %s", short(f.MergeSHA), held[0].Gate, held[0].Reason)
		r.then = func(ctx context.Context, tx Tx, p Promotion) error {
			return s.violate(ctx, tx, Violation{Target: p.Target, PromotionID: p.ID, Kind: ViolationSynced, Actor: "unknown", Subject: p.MergeSHA, Message: message})
		}
	}
	r.apply = func(p *Promotion) {
		if g.syncing || g.synced {
			setOnce(&p.SyncStartedAt, now)
		}
		if g.synced {
			setOnce(&p.SyncedAt, now)
		}
		if g.live {
			setOnce(&p.LiveAt, now)
		} else {
			p.LiveAt = time.Time{}
		}
		p.Failure = g.failure
	}
	return r, nil
}

func setOnce(t *time.Time, now time.Time) {
	if t.IsZero() {
		*t = now
	}
}

func (f *situation) describe() string {
	switch g := f.progress; {
	case g.failure != "":
		return g.failure
	case g.live:
		return "the running containers are these digests and healthy"
	case !f.LiveAt.IsZero():
		return "no longer healthy with these digests"
	case g.synced:
		return "the cluster has applied the merge"
	case g.syncing:
		return "the cluster applies the merge"
	}
	return "the cluster no longer fails"
}

func maySync(f *situation) bool {
	return f.PullRequest == PullRequestMerged && f.policy.SyncBySluice && len(f.deployments) > 0 && f.OvertakenAt.IsZero() &&
		f.SyncedAt.IsZero() && f.SyncStartedAt.IsZero() && f.Failure == "" && len(holding(f.gates, PhaseSync)) == 0
}

func (s *Service) startSync(ctx context.Context, f *situation) (record, error) {
	by := Sluice()
	if f.SyncAskedBy != "" {
		by = Actor{Name: f.SyncAskedBy, Kind: Person}
	}
	f.now = s.Now() // since the look a window may have closed
	gates := s.evaluate(ctx, f)
	if len(holding(gates, PhaseSync)) > 0 {
		return nothing(), nil
	}
	if taken, err := s.takePlace(ctx, f, !holdsLine(gates)); err != nil || !taken {
		return nothing(), err
	}
	for _, d := range f.deployments {
		if d.AutomatedSync {
			continue
		}
		cluster, ok := s.Clusters[d.Key.Cluster]
		if !ok {
			return record{}, fmt.Errorf("cluster %s is not connected to this server", d.Key.Cluster)
		}
		r := SyncRequest{PromotionID: f.ID, Revision: f.MergeSHA, InitiatedBy: by.Name}
		if err := cluster.Sync(ctx, d.Key, r); err != nil {
			return record{}, fmt.Errorf("start the sync of %s in %s: %w", d.Key.Name, d.Key.Cluster, err)
		}
	}
	return record{by: by, action: "promotion.sync-started", message: "sync to " + short(f.MergeSHA) + " started",
		apply: func(p *Promotion) { setOnce(&p.SyncStartedAt, s.Now()) }}, nil
}

func mayVerify(f *situation) bool {
	return f.State() == StateLive && f.progress.live && f.soaked.lasted >= f.policy.Soak && len(holding(f.gates, PhaseVerify)) == 0
}

// verify records that the release held, and wakes what waits for it downstream.
func (s *Service) verify(_ context.Context, f *situation) (record, error) {
	return record{by: Sluice(), action: "promotion.verified",
		message: f.verified(),
		apply:   func(p *Promotion) { p.VerifiedAt = s.Now() },
		then: func(ctx context.Context, tx Tx, p Promotion) error {
			targets, err := tx.TargetsOf(ctx, p.Target.ApplicationID)
			if err != nil {
				return err
			}
			for _, t := range targets {
				if err := tx.EnqueueTarget(ctx, t.ID); err != nil {
					return err
				}
			}
			if p.Kind != KindRelease {
				return nil
			}
			if err := tx.LockApplication(ctx, p.Target.ApplicationID); err != nil {
				return err
			}
			return s.startAutomatic(ctx, tx, p.Release, p.Target, p.StartedByBuild)
		}}, nil
}
