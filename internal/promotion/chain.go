package promotion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Link is one link of a release's chain from source commit to running
// container: the two values that were compared and what says so.
type Link struct {
	Name        string
	Environment string // empty for the links before the first environment
	Verified    bool
	Expected    string
	Found       string
	Proof       string
	At          time.Time
}

// Chain follows a release from its source commit to the containers that run it, in
// every environment it went to. A link that does not hold is shown as broken.
func (s *Service) Chain(ctx context.Context, releaseID int64) ([]Link, error) {
	r, err := s.Store.Release(ctx, releaseID)
	if errors.Is(err, ErrNotFound) {
		return nil, absent("unknown-release", "there is no release with id %d", releaseID)
	} else if err != nil {
		return nil, err
	}
	links, err := s.originLinks(ctx, r)
	if err != nil {
		return nil, err
	}
	promotions, err := s.Store.Promotions(ctx, PromotionFilter{ReleaseID: r.ID, Limit: 100})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(promotions, func(a, b Promotion) int {
		if d := a.Target.Rank - b.Target.Rank; d != 0 {
			return d
		}
		return int(a.ID - b.ID)
	})
	for _, p := range promotions {
		if p.PullRequest != PullRequestMerged {
			continue
		}
		more, err := s.environmentLinks(ctx, p)
		if err != nil {
			return nil, err
		}
		links = append(links, more...)
	}
	return links, nil
}

func (s *Service) originLinks(ctx context.Context, r Release) ([]Link, error) {
	if r.Origin == FromImport {
		return []Link{{Name: "source commit → build", Found: strings.Join(references(r), " "), At: r.CreatedAt,
			Proof: "imported from what ran already: no build was posted, so nothing is known of its source"}}, nil
	}
	b, err := s.Store.BuildByID(ctx, r.BuildID)
	if err != nil {
		return nil, fmt.Errorf("read build %d: %w", r.BuildID, err)
	}
	posted, err := s.postedReferences(ctx, r)
	if err != nil {
		return nil, err
	}
	released := references(r)
	carried := slices.DeleteFunc(slices.Clone(released), func(ref string) bool { return slices.Contains(posted, ref) })
	proof := "the release has exactly what was posted"
	if len(carried) > 0 {
		proof = "carried forward, not posted with this build: " + strings.Join(carried, ", ")
	}
	holds := !slices.ContainsFunc(posted, func(ref string) bool { return !slices.Contains(released, ref) })
	return []Link{
		{Name: "source commit → build", Verified: true, Expected: b.Source.Commit, Found: b.Source.Commit, At: b.PostedAt,
			Proof: fmt.Sprintf("said by %s when it posted build %d; no signed provenance was given", b.PostedBy, b.ID)},
		{Name: "build → release", Verified: holds, Expected: strings.Join(posted, " "), Found: strings.Join(released, " "), At: r.CreatedAt, Proof: proof},
	}, nil
}

// postedReferences are what the release's builds posted: the images and charts of a group come in several.
func (s *Service) postedReferences(ctx context.Context, r Release) ([]string, error) {
	ids := []int64{r.BuildID}
	for _, a := range r.Artifacts {
		if a.CarriedFrom == 0 && a.BuildID != 0 && !slices.Contains(ids, a.BuildID) {
			ids = append(ids, a.BuildID)
		}
	}
	for _, c := range r.Charts {
		if c.CarriedFrom == 0 && c.BuildID != 0 && !slices.Contains(ids, c.BuildID) {
			ids = append(ids, c.BuildID)
		}
	}
	var posted []string
	for _, id := range ids {
		b, err := s.Store.BuildByID(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("read build %d: %w", id, err)
		}
		for _, a := range b.Artifacts {
			if r.uses(a.Repository) {
				posted = append(posted, a.Repository+"@"+a.Digest)
			}
		}
		for _, c := range b.Charts {
			if slices.ContainsFunc(r.Charts, isChart(c.Name)) {
				posted = append(posted, "chart "+c.String())
			}
		}
	}
	return posted, nil
}

func (s *Service) environmentLinks(ctx context.Context, p Promotion) ([]Link, error) {
	site, err := s.site(p.Target)
	if err != nil {
		return nil, err
	}
	policy, err := s.PolicyFor(ctx, p.Target)
	if err != nil {
		return nil, err
	}
	links := []Link{s.registryLink(ctx, p), s.renderedLink(ctx, site, p, policy), s.mainLink(ctx, site, p)}
	if p.SyncedAt.IsZero() {
		return links, nil
	}
	// Of what is there still, the chain says how it is now; of what was replaced, how it was.
	at := firstTime(p.LiveAt, p.SyncedAt)
	newer, err := s.Store.NewerMerged(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("look for a newer merge to %s: %w", p.Target.Path, err)
	}
	desired, err := s.Store.LatestRevision(ctx, p.Target.ID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, fmt.Errorf("read what main renders for %s: %w", p.Target.Path, err)
	}
	if newer == 0 && desired.ReleaseID == p.Release.ID { // a commit by hand may have replaced it
		at = s.Now()
	}
	seen, err := s.Store.History(ctx, HistoryFilter{Application: p.Target.Application, Environment: p.Target.Environment, At: at, Limit: 20})
	if err != nil {
		return nil, fmt.Errorf("read what ran in %s: %w", p.Target.Environment, err)
	}
	for _, e := range seen {
		more, err := s.runningLinks(ctx, site, p, policy, e)
		if err != nil {
			return nil, err
		}
		links = append(links, more...)
	}
	return links, nil
}

// registryLink repeats what the gate found when the pull request was opened.
func (s *Service) registryLink(ctx context.Context, p Promotion) Link {
	l := Link{Name: "release → registry", Environment: p.Target.Environment, Expected: strings.Join(digests(p.Release), " "),
		Proof: "the registry was not asked"}
	gates, err := s.Store.Gates(ctx, p.ID)
	if err != nil {
		l.Proof = "the stored answer could not be read: " + err.Error()
	}
	for _, g := range gates {
		if g.Gate == GateArtifactAvailable {
			l.Verified, l.Proof, l.At = g.Verdict == Pass, g.Reason, g.EvaluatedAt
		}
	}
	if l.Verified {
		l.Found = l.Expected
	}
	return l
}

func (s *Service) renderedLink(ctx context.Context, site Site, p Promotion, policy EnvironmentPolicy) Link {
	promoted := wanted(p.Release, policy)
	l := Link{Name: "release → rendered manifest", Environment: p.Target.Environment, Expected: strings.Join(promoted, " "),
		At: p.MergedAt, Proof: "rendered at commit " + p.MergeSHA}
	tree, err := site.Repository.Tree(ctx, p.MergeSHA)
	if err == nil {
		var r Rendering
		if r, err = s.Manifests.Render(tree, p.Target.Path); err == nil {
			var found []string
			for _, image := range r.Images {
				ref := withoutTag(image.Reference)
				if p.Release.uses(RepositoryOf(policy.PostedAs(ref))) && strings.Contains(ref, "@") && !slices.Contains(found, ref) {
					found = append(found, ref)
				}
			}
			for _, pinned := range r.Charts { // an environment may have the chart without a pin
				if i := slices.IndexFunc(p.Release.Charts, isChart(pinned.Name)); i >= 0 {
					promoted, found = append(promoted, "chart "+p.Release.Charts[i].String()), append(found, "chart "+pinned.String())
				}
			}
			l.Expected, l.Found, l.Verified = strings.Join(promoted, " "), strings.Join(found, " "), sameSet(found, promoted)
		}
	}
	if err != nil {
		l.Proof = fmt.Sprintf("commit %s could not be rendered: %v", p.MergeSHA, err)
	}
	return l
}

func (s *Service) mainLink(ctx context.Context, site Site, p Promotion) Link {
	l := Link{Name: "commit → merge on main", Environment: p.Target.Environment, Expected: p.MergeSHA, At: p.MergedAt}
	known, err := s.Store.Repository(ctx, p.Target.Repository)
	head := known.Head
	if err == nil {
		l.Verified, err = site.Repository.Contains(ctx, head, p.MergeSHA)
	}
	switch {
	case err != nil:
		l.Proof = "main could not be read: " + err.Error()
	case l.Verified:
		l.Found, l.Proof = p.MergeSHA, fmt.Sprintf("main at %s contains it; merged by %s", short(head), p.MergedBy)
	default:
		l.Found, l.Proof = head, "main no longer contains the merge: it was forced elsewhere"
	}
	return l
}

func (s *Service) runningLinks(ctx context.Context, site Site, p Promotion, policy EnvironmentPolicy, e HistoryEntry) ([]Link, error) {
	synced := Link{Name: "merge → synced revision", Environment: p.Target.Environment, Expected: p.MergeSHA, Found: e.Revision, At: p.SyncedAt}
	contains, err := site.Repository.Contains(ctx, e.Revision, p.MergeSHA)
	synced.Verified = err == nil && contains
	synced.Proof = fmt.Sprintf("Argo CD in %s says it applied %s", e.Cluster, short(e.Revision))
	running := Link{Name: "synced revision → running containers", Environment: p.Target.Environment, At: e.From,
		Found: strings.Join(e.ImageIDs, " "),
		Proof: "imageIDs of the running containers in " + e.Cluster}
	platforms, err := s.Store.Platforms(ctx, digests(p.Release))
	if err != nil {
		return nil, err
	}
	d := Deployment{}
	for _, id := range e.ImageIDs {
		d.RunningImages = append(d.RunningImages, ContainerImage{ImageID: id})
	}
	rendered, err := s.renderedDigests(ctx, site, p)
	if err != nil {
		return nil, err
	}
	running.Expected = strings.Join(rendered, " ")
	running.Verified = runs(p.Release, policy, rendered, d, platforms)
	return []Link{synced, running}, nil
}

func references(r Release) []string {
	refs := make([]string, 0, len(r.Artifacts))
	for _, a := range r.Artifacts {
		refs = append(refs, a.Reference())
	}
	for _, c := range r.Charts {
		refs = append(refs, "chart "+c.String())
	}
	return refs
}

func sameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

func firstTime(times ...time.Time) time.Time {
	for _, t := range times {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}
