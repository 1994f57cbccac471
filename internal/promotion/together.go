package promotion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
)

// One commit may give a release to several environments of an application. The promotion is of one of them; what the pull request
// changes in each other gated one becomes a promotion of kind change, as with anybody's pull request: each passes its own gates,
// and the pull request is merged when all do.

// changesOthers: its pull request may change more than the promotion's own target. Adopted fields do where another overlay builds on it.
func (p Promotion) changesOthers() bool {
	return p.Restore.Base || p.Restore.Revert || len(p.With) > 0 || len(p.Adopt.Fields) > 0
}

// sameContent: both would bring the same to the same target.
func (p Promotion) sameContent(other Promotion) bool {
	return p.Release.ID == other.Release.ID && p.Restore == other.Restore && slices.Equal(p.With, other.With)
}

// companions are the other environments of a request, each once.
func (s *Service) companions(ctx context.Context, t Target, environments []string) ([]string, error) {
	with := distinct(slices.Clone(environments))
	for _, environment := range with {
		if environment == t.Environment {
			return nil, invalid("malformed-with", "with", "%s is the environment that is promoted to: name further ones only", environment)
		}
		other, err := s.Store.TargetNamed(ctx, t.Application, environment)
		switch {
		case errors.Is(err, ErrNotFound):
			return nil, invalid("unknown-target", "with", "%s has no environment %s: there is no such overlay on main", t.Application, environment)
		case err != nil:
			return nil, err
		case other.Repository != t.Repository:
			return nil, invalid("malformed-with", "with", "%s of %s is in config repository %s, and one commit cannot change two: promote to it by itself",
				environment, t.Application, other.Repository)
		}
	}
	return with, nil
}

// refuseTogether: a companion that something is open for would be changed under it.
func refuseTogether(ctx context.Context, tx Tx, p Promotion) error {
	for _, environment := range p.With {
		t, err := tx.TargetNamed(ctx, p.Target.Application, environment)
		if err != nil {
			return err
		}
		open, err := tx.OpenOn(ctx, t.ID)
		if err != nil {
			return err
		}
		if len(open) > 0 {
			return conflict("promotion-open", "promotion %d is open for %s in %s: finish or cancel it first", open[0].ID, t.Application, environment)
		}
	}
	return nil
}

// together gives the release to the promotion's target and to each of the others, one edit on top of another.
func (s *Service) together(ctx context.Context, f *situation, base string, tree fs.FS) (Change, error) {
	if f.noRules != nil {
		return Change{}, f.noRules
	}
	targets := []Target{f.Target}
	for _, environment := range f.With {
		t, err := s.targetNamed(ctx, f.Target.Application, environment)
		if err != nil {
			return Change{}, err
		}
		targets = append(targets, t)
	}
	files, after := map[string][]byte{}, tree
	for _, t := range targets {
		change, err := s.Manifests.Set(after, t.Path, wantedOf(f.Release, f.rules.rules.For(t)))
		if err != nil {
			return Change{}, fmt.Errorf("in %s: %w", t.Environment, err)
		}
		maps.Copy(files, change.Files)
		if after, err = f.site.Repository.Patched(ctx, base, files, nil); err != nil {
			return Change{}, err
		}
	}
	change, err := s.Manifests.Compare(tree, after, f.Target.Path)
	change.Files = files
	return change, err
}
