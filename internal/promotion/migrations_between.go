package promotion

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// migrationsBetween is what current's database may hold and candidate knows nothing of.
type migrationsBetween struct {
	tool          string
	newer, before []MigrationFile   // by name
	releases      map[string]string // which version has it, by the name of a newer one
	judged        []JudgedMigration
}

// migrationsIn compares the files that the builds of the releases posted which a target's database has seen since candidate.
func (s *Service) migrationsIn(ctx context.Context, t Target, current, candidate Release) (*migrationsBetween, error) {
	if current.ID == 0 || candidate.ID == 0 {
		return nil, errors.New("what runs here is no release that Sluice knows, so what its database holds is not known either")
	}
	since, err := s.Store.RanSince(ctx, t.ID, candidate.ID)
	if err != nil {
		return nil, fmt.Errorf("what ran in %s since could not be read: %w", t.Environment, err)
	}
	since = slices.DeleteFunc(since, func(r Release) bool { return r.ID == current.ID })
	return s.migrationsBetween(ctx, candidate, append([]Release{current}, since...))
}

// migrationsBetween finds what later releases have and candidate does not. It is an error when what their builds posted does not
// tell that.
func (s *Service) migrationsBetween(ctx context.Context, candidate Release, later []Release) (*migrationsBetween, error) {
	ids := []int64{candidate.ID}
	for _, r := range later {
		ids = append(ids, r.ID)
	}
	posted, err := s.Store.MigrationsOf(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("which migrations the releases have could not be read: %w", err)
	}
	old, err := migrationsOf(candidate, posted[candidate.ID])
	if err != nil {
		return nil, err
	}
	b := &migrationsBetween{tool: old.Tool, releases: map[string]string{}}
	for _, f := range old.Files {
		if s.Migrations.Runs(old.Tool, f.Name) != RunsNotForward {
			b.before = append(b.before, f)
		}
	}
	for _, r := range later {
		if err := s.addNewer(b, candidate, r, posted, old); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// addNewer adds what a release that ran after candidate has and candidate does not.
func (s *Service) addNewer(b *migrationsBetween, candidate, r Release, posted map[int64][]BuildMigrations, old Migrations) error {
	own, err := migrationsOf(r, posted[r.ID])
	if err != nil {
		return err
	}
	if own.Tool != old.Tool {
		return fmt.Errorf("%s runs its migrations with %s and %s with %s: what one has applied cannot be compared with the other", r.Version, own.Tool, candidate.Version, old.Tool)
	}
	if err := errors.Join(forgotten(r, posted[r.ID], candidate, posted[candidate.ID]), forgotten(candidate, posted[candidate.ID], r, posted[r.ID])); err != nil {
		return err
	}
	before := len(b.newer)
	for _, f := range own.Files {
		known, has := named(old.Files, f.Name)
		again, seen := named(b.newer, f.Name)
		runs := s.Migrations.Runs(own.Tool, f.Name)
		switch {
		case runs == RunsNotForward && has, has && known.SHA256 == f.SHA256, seen && again.SHA256 == f.SHA256:
		case has && runs == RunsOnce:
			return fmt.Errorf("%s is another file in %s than in %s: it was altered, and which of the two was applied is not known", f.Name, r.Version, candidate.Version)
		case seen && runs == RunsOnce:
			return fmt.Errorf("%s is another file in %s, which ran here, than in %s: which of the two was applied is not known", f.Name, r.Version, b.releases[f.Name])
		case !seen:
			b.newer, b.releases[f.Name] = append(b.newer, f), r.Version
		}
	}
	if len(b.newer) > before {
		return b.follows(candidate, r, own, s.Migrations)
	}
	return nil // it is older, if anything: candidate brings what it lacks itself
}

// follows asks that a release with newer migrations goes on from where candidate was.
func (b *migrationsBetween) follows(candidate, r Release, own Migrations, reader MigrationReader) error {
	for _, f := range b.before {
		if _, has := named(own.Files, f.Name); !has && reader.Runs(b.tool, f.Name) == RunsOnce {
			return fmt.Errorf("%s is in %s and missing from %s, which has others instead: the migrations do not follow one another", f.Name, candidate.Version, r.Version)
		}
	}
	return nil
}

func named(files []MigrationFile, name string) (MigrationFile, bool) {
	i := slices.IndexFunc(files, func(f MigrationFile) bool { return f.Name == name })
	if i < 0 {
		return MigrationFile{}, false
	}
	return files[i], true
}

// migrationsOf puts together what the builds of a release posted, by name.
func migrationsOf(r Release, builds []BuildMigrations) (Migrations, error) {
	files := map[string]MigrationFile{}
	all := Migrations{}
	for _, b := range builds {
		m := b.Migrations
		switch {
		case m.Tool == "":
			continue
		case all.Tool != "" && all.Tool != m.Tool:
			return all, fmt.Errorf("the builds of %s posted migrations of %s and of %s: which of them run is not known", r.Version, all.Tool, m.Tool)
		}
		all.Tool = m.Tool
		for _, f := range m.Files {
			if other, has := files[f.Name]; has && other.SHA256 != f.SHA256 {
				return all, fmt.Errorf("the builds of %s posted two different files %s: which of them runs is not known", r.Version, f.Name)
			}
			files[f.Name] = f
		}
	}
	if all.Tool == "" {
		return all, fmt.Errorf("no build of %s posted migrations: post them with sluice build post --migrations", r.Version)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		all.Files = append(all.Files, files[name])
	}
	return all, nil
}

// forgotten finds an image whose build posted migrations for one release and whose other build, of another release, posted none:
// a CI job that left them out must not look like one that has none.
func forgotten(with Release, builds []BuildMigrations, without Release, others []BuildMigrations) error {
	for _, b := range builds {
		if b.Migrations.Tool == "" {
			continue
		}
		for _, o := range others {
			for _, repository := range o.Repositories {
				if o.BuildID != b.BuildID && slices.Contains(b.Repositories, repository) && !covers(others, repository) {
					return fmt.Errorf("the build of %s for %s posted migrations and that for %s posted none: post them with each build", repository, with.Version, without.Version)
				}
			}
		}
	}
	return nil
}

// covers tells whether a build of an image, or another of its group, posted migrations.
func covers(builds []BuildMigrations, repository string) bool {
	for _, b := range builds {
		posts := func(other BuildMigrations) bool {
			return other.Migrations.Tool != "" && (other.BuildID == b.BuildID || b.Group != "" && other.Group == b.Group)
		}
		if slices.Contains(b.Repositories, repository) && slices.ContainsFunc(builds, posts) {
			return true
		}
	}
	return false
}
