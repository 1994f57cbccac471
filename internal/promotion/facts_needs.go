package promotion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
)

// needsKept remembers what renderings need: a commit's files never change.
type needsKept struct {
	mu  sync.Mutex
	all map[string]*Needs
}

// mostNeedsKept bounds the memory; then it starts anew.
const mostNeedsKept = 2000

func (k *needsKept) of(key string, read func() (Needs, error)) (*Needs, error) {
	k.mu.Lock()
	kept := k.all[key]
	k.mu.Unlock()
	if kept != nil {
		return kept, nil
	}
	n, err := read()
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil || len(k.all) >= mostNeedsKept {
		k.all = map[string]*Needs{}
	}
	k.all[key] = &n
	return &n, nil
}

// needsAt is what a target needs as a commit has it.
func (s *Service) needsAt(ctx context.Context, site Site, t Target, commit string) (*Needs, error) {
	return s.needs.of(strings.Join([]string{t.Repository, t.Path, commit}, "\n"), func() (Needs, error) {
		tree, err := site.Repository.Tree(ctx, commit)
		if err != nil {
			return Needs{}, fmt.Errorf("commit %s could not be read: %w", short(commit), err)
		}
		n, err := s.Manifests.Needs(tree, t.Path)
		if err != nil {
			return Needs{}, fmt.Errorf("%s cannot be rendered at %s: %w", t.Path, short(commit), err)
		}
		return n, nil
	})
}

// needsAfter is what a target needs once it has gone back from a head of main.
func (s *Service) needsAfter(ctx context.Context, site Site, b *goingBack, head string, policy EnvironmentPolicy) (*Needs, error) {
	wanted := wantedOf(b.candidate, policy)
	key := fmt.Sprint(b.target.Repository, "\n", b.target.Path, "\n", head, "\n", b.way, "\n", b.commit, "\n", b.undone, "\n", wanted)
	return s.needs.of(key, func() (Needs, error) {
		after, err := s.treeAfter(ctx, site, b, head, wanted)
		if err != nil {
			return Needs{}, fmt.Errorf("%s cannot be changed to %s: %w", b.target.Path, b.candidate.Version, err)
		}
		return s.Manifests.Needs(after, b.target.Path)
	})
}

func (s *Service) treeAfter(ctx context.Context, site Site, b *goingBack, head string, w Wanted) (fs.FS, error) {
	if b.way == Revert {
		change, err := s.reverted(ctx, site, b.target, head, b.undone)
		if err != nil {
			return nil, err
		}
		return site.Repository.Patched(ctx, head, change.Files, change.Deletes)
	}
	if b.way == ImagesAndConfig {
		if b.commit == "" {
			return nil, errors.New("no commit of main is known to have had it")
		}
		change, err := s.restored(ctx, site, b.target, head, Restoration{Commit: b.commit}, w)
		if err != nil {
			return nil, err
		}
		return site.Repository.Patched(ctx, head, change.Files, change.Deletes)
	}
	tree, err := site.Repository.Tree(ctx, head)
	if err != nil || len(w.Images)+len(w.Charts) == 0 {
		return tree, err
	}
	change, err := s.Manifests.Set(tree, b.target.Path, w)
	if err != nil {
		return nil, err
	}
	return site.Repository.Patched(ctx, head, change.Files, change.Deletes)
}

// render fills in what the candidate needed, and what the target would need. What cannot be rendered is a finding.
func (s *Service) render(ctx context.Context, site Site, b *goingBack, head string, policy EnvironmentPolicy) {
	var err error
	if b.now == nil {
		b.now, err = s.needsAt(ctx, site, b.target, head)
	}
	if err == nil && b.commit == "" {
		err = fmt.Errorf("no commit of main is known to have had %s in %s", b.candidate.Version, b.target.Environment)
	}
	if err == nil {
		b.old, err = s.needsAt(ctx, site, b.target, b.commit)
	}
	if err != nil {
		b.problem = err.Error()
	}
	if b.back, err = s.needsAfter(ctx, site, b, head, policy); err != nil {
		b.problem = err.Error()
	}
}
