package promotion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// authors are those who wrote what a release brings.
type authors struct {
	names   []string // in Sluice
	unknown string   // why not all of them are known
}

// lookAtAuthors finds who wrote what the release brings to the target, where the policy does not let them approve it.
func (s *Service) lookAtAuthors(ctx context.Context, f *situation) error {
	if !f.policy.ExcludeAuthors || f.policy.Approvals == 0 || f.Release.ID == 0 {
		return nil
	}
	named, err := s.Store.AuthorsOf(ctx, f.Release.ID)
	if err != nil {
		return fmt.Errorf("read who wrote release %d: %w", f.Release.Number, err)
	}
	has, err := s.onMain(ctx, f.Target)
	if err != nil {
		return err
	}
	for _, a := range f.Release.Artifacts {
		if slices.ContainsFunc(has.Artifacts, func(old Artifact) bool { return old.Reference() == a.Reference() }) {
			continue
		}
		if len(named[a.Repository]) == 0 {
			f.authors.unknown = fmt.Sprintf("no build says who wrote %s: post it again with --source-author (source.authors)", a.Repository)
		}
		for _, author := range named[a.Repository] {
			name, known := s.author(f.Target.Repository, author)
			if !known {
				f.authors.unknown = fmt.Sprintf("%s is not known here: add them to people of the server's configuration", author)
			} else if !slices.Contains(f.authors.names, name) {
				f.authors.names = append(f.authors.names, name)
			}
		}
	}
	return nil
}

// onMain is the release that main renders in a target; zero when none does.
func (s *Service) onMain(ctx context.Context, t Target) (Release, error) {
	latest, err := s.Store.LatestRevision(ctx, t.ID)
	if errors.Is(err, ErrNotFound) || err == nil && latest.ReleaseID == 0 {
		return Release{}, nil
	} else if err != nil {
		return Release{}, fmt.Errorf("read what main renders for %s: %w", t.Path, err)
	}
	r, err := s.Store.Release(ctx, latest.ReleaseID)
	if err != nil {
		return r, fmt.Errorf("read release %d: %w", latest.ReleaseID, err)
	}
	return r, nil
}

func (s *Service) author(repository, author string) (name string, known bool) {
	if s.Author != nil {
		return s.Author(repository, author)
	}
	if s.People != nil && len(s.People(author)) > 0 {
		return author, true
	}
	return "", false
}

// wrote tells whether somebody is an author. People are as careless with capitals in names as hosts are.
func (a authors) wrote(name string) bool {
	return slices.ContainsFunc(a.names, func(author string) bool { return strings.EqualFold(author, name) })
}
