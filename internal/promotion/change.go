package promotion

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// A promotion of kind change is what somebody's own pull request alters in one gated target. Sluice neither writes nor
// closes that pull request: it judges it, says so on it, and follows the merge. Only where fields are adopted it writes a change itself.

// lookAtHead makes today's merge result of a person's pull request what is judged.
func (s *Service) lookAtHead(ctx context.Context, f *situation) error {
	if f.justMerged() {
		f.merged, f.mergeFailed = s.mergedChange(ctx, f)
		f.proposed, f.proposeFailed = f.merged, f.mergeFailed
		return nil
	}
	if !f.onHost || f.host.State != PullRequestOpen {
		f.proposeFailed = errors.New("the host does not show it as open")
		return nil
	}
	there, err := fetchHead(ctx, f.site.Repository, f.host)
	if err != nil {
		return fmt.Errorf("fetch the head of pull request #%d: %w", f.Number, err)
	}
	if !there {
		f.proposeFailed = errors.New("its head moves just now")
		return nil
	}
	merged, changed, err := f.site.Repository.Merged(ctx, f.head, f.host.HeadSHA)
	if err == nil {
		f.merged, err = s.Manifests.Compare(f.tree, merged, f.Target.Path)
	}
	if err == nil && touchesPolicy(changed) {
		f.newPolicy = true
		f.merged.After.Hash, err = s.withPolicy(f.merged.After.Hash, merged)
	}
	f.mergeFailed, f.proposeFailed, f.proposed = err, err, f.merged
	return nil
}

// justMerged: the host has merged the pull request, and that is not recorded yet.
func (f *situation) justMerged() bool {
	return f.onHost && f.host.State == PullRequestMerged && f.PullRequest != PullRequestMerged
}

// mergedChange is what the merge did to the target.
func (s *Service) mergedChange(ctx context.Context, f *situation) (Change, error) {
	merge, err := f.site.Repository.Commit(ctx, f.host.MergeSHA)
	if err != nil {
		return Change{}, err
	}
	before, err := f.site.Repository.Tree(ctx, merge.Parent)
	if err != nil {
		return Change{}, err
	}
	after, err := f.site.Repository.Tree(ctx, merge.SHA)
	if err != nil {
		return Change{}, err
	}
	change, err := s.Manifests.Compare(before, after, f.Target.Path)
	if err == nil && f.ChangesPolicy {
		change.After.Hash, err = s.withPolicy(change.After.Hash, after)
	}
	return change, err
}

// policyFile is what a policy file is called wherever it is.
const policyFile = "sluice.yaml"

func touchesPolicy(files []string) bool {
	return slices.ContainsFunc(files, func(file string) bool { return path.Base(file) == policyFile })
}

// withPolicy makes a rendering's hash one over a tree's policy too.
func (s *Service) withPolicy(rendered string, tree fs.FS) (string, error) {
	files, err := s.Policies.Collect(tree)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintln(sum, rendered)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%s %d\n%s", name, len(files[name]), files[name])
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// mustNotice: the pull request's head or main has moved, and merging it now would deploy something else than what is recorded.
func mustNotice(f *situation) bool {
	return !f.Ours() && f.Open() && f.onHost && f.host.State == PullRequestOpen && f.mergeFailed == nil && f.proposeFailed == nil &&
		(f.host.HeadSHA != f.HeadSHA || f.merged.After.Hash != f.RenderedHash)
}

func (s *Service) notice(ctx context.Context, f *situation) (record, error) {
	var refs []string
	for _, image := range f.merged.After.Images {
		refs = append(refs, f.policy.PostedAs(image.Reference))
	}
	current, err := s.Store.LatestRevision(ctx, f.Target.ID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return record{}, fmt.Errorf("read what main renders for %s: %w", f.Target.Path, err)
	}
	release, err := s.Store.ReleaseOf(ctx, f.Target.ApplicationID, refs, f.merged.After.Charts, current.ReleaseID)
	if err != nil {
		return record{}, fmt.Errorf("find the release of pull request #%d: %w", f.Number, err)
	}
	found, err := s.lint(ctx, f, f.host.HeadSHA)
	if err != nil {
		return record{}, err
	}
	base, head, rendered, diff := f.head, f.host.HeadSHA, f.merged.After.Hash, f.merged.Diff
	r := record{by: Actor{Name: f.host.Author, Kind: Person}, action: "promotion.proposed", message: fmt.Sprintf("head %s of pull request #%d", short(head), f.Number)}
	if f.RenderedHash != "" && f.RenderedHash != rendered {
		r.message += "; it renders something else than before, so approvals given until now no longer count"
	}
	r.apply = func(p *Promotion) {
		p.BaseSHA, p.HeadSHA, p.RenderedHash, p.Diff, p.Lint, p.Release.ID = base, head, rendered, diff, found, release
		p.ChangesPolicy = f.newPolicy
	}
	return r, nil
}

// changedImages are the images that the change makes the target run and that it did not run before.
func (f *situation) changedImages() []RenderedImage {
	var changed []RenderedImage
	for _, image := range f.merged.After.Images {
		same := func(old RenderedImage) bool { return old.Reference == image.Reference }
		if !slices.ContainsFunc(f.merged.Before.Images, same) && !slices.ContainsFunc(changed, same) {
			changed = append(changed, image)
		}
	}
	return changed
}

// changedByDigest asks that what a person's change makes a target run is named by its digest.
func (f *situation) changedByDigest() GateResult {
	for _, image := range f.changedImages() {
		if !strings.Contains(image.Reference, "@") {
			return block("%s would run %s: a tag can point elsewhere tomorrow. Name it by its digest.", image.Object, image.Reference)
		}
	}
	return pass("every image that changes is named by its digest")
}

// sibling is another promotion of the same pull request: merging one merges all.
type sibling struct {
	Promotion
	held []GateResult
}

// lookAtSiblings reads what holds the other promotions of the pull request, as last judged.
func (s *Service) lookAtSiblings(ctx context.Context, f *situation) error {
	if f.Number == 0 || !f.Open() {
		return nil
	}
	changes, err := s.Store.Changes(ctx, f.Target.Repository, f.Number)
	if err != nil {
		return fmt.Errorf("read what else pull request #%d changes: %w", f.Number, err)
	}
	for _, p := range changes {
		if p.ID == f.ID || !p.Open() && p.Decision != Rejected {
			continue
		}
		gates, err := s.Store.Gates(ctx, p.ID)
		if err != nil {
			return fmt.Errorf("read the gates of promotion %d: %w", p.ID, err)
		}
		held := holdingMerge(gates)
		switch {
		case p.Decision == Rejected && p.HeadSHA == f.HeadSHA:
			held = []GateResult{block("%s rejected it for %s: %s", p.DecidedBy, p.Target.Environment, p.DecisionReason)}
			held[0].Gate, held[0].Mode = GateApprovals, Enforce
		case p.Decision == Rejected:
			continue
		case len(gates) == 0:
			held = []GateResult{wait("%s in %s is not judged yet", p.Target.Application, p.Target.Environment)}
			held[0].Gate, held[0].Mode = GateContent, Enforce
		}
		f.siblings = append(f.siblings, sibling{p, held})
	}
	return nil
}

// judgeSiblings judges them anew, for a merge that is about to happen.
func (s *Service) judgeSiblings(ctx context.Context, f *situation) error {
	for i, other := range f.siblings {
		if !other.Open() {
			continue
		}
		o, err := s.look(ctx, other.ID)
		if err != nil {
			return err
		}
		o.gates = s.evaluate(ctx, o)
		f.siblings[i].held = holdingMerge(o.gates)
	}
	return nil
}

// unjudged lists the other targets that the pull request changes, of a shared base restored or of several environments promoted to
// together, and that no promotion judges yet.
func (s *Service) unjudged(ctx context.Context, f *situation) ([]Target, error) {
	if !f.changesOthers() || f.proposeFailed != nil {
		return nil, nil
	}
	others, err := s.alsoChanged(ctx, f.site, f.Target, f.head, f.proposed)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(others, func(t Target) bool {
		return !gated(f.rules.rules, f.freezes, t, f.now) ||
			slices.ContainsFunc(f.siblings, func(o sibling) bool { return o.Target.ID == t.ID })
	}), nil
}
