package promotion

import (
	"context"
	"fmt"
)

// ReleaseMigrations are the migrations of a release, and what was found of those that the release before does not have.
type ReleaseMigrations struct {
	Tool    string          // empty: its builds posted none
	Files   []MigrationFile // without texts, by name
	Since   string          // version of the release before that posted some; empty when there is none
	New     []JudgedMigration
	Problem string // why what lies between the two is not known
}

// releasesBefore is how many releases are looked through for one before that posted migrations.
const releasesBefore = 50

// ReleaseMigrations lists a release's migrations. The release before is the newest of its line, and otherwise of any.
func (s *Service) ReleaseMigrations(ctx context.Context, r Release) (ReleaseMigrations, error) {
	earlier, err := s.Store.Releases(ctx, r.Application, r.ID, releasesBefore)
	if err != nil {
		return ReleaseMigrations{}, fmt.Errorf("read the releases before %s: %w", r.Version, err)
	}
	ids := []int64{r.ID}
	for _, e := range earlier {
		ids = append(ids, e.ID)
	}
	posted, err := s.Store.MigrationsOf(ctx, ids)
	if err != nil {
		return ReleaseMigrations{}, fmt.Errorf("read the migrations of %s: %w", r.Version, err)
	}
	if !anyPosted(posted[r.ID]) {
		return ReleaseMigrations{}, nil
	}
	m, err := migrationsOf(r, posted[r.ID])
	out := ReleaseMigrations{Tool: m.Tool, Files: m.Files}
	if err != nil {
		out.Problem = err.Error()
		return out, nil
	}
	before, found := releaseBefore(r, earlier, posted)
	if !found {
		return out, nil
	}
	out.Since = before.Version
	between, err := s.migrationsBetween(ctx, before, []Release{r})
	if err == nil {
		err = s.judgeMigrations(ctx, between)
	}
	if err != nil {
		out.Problem = err.Error()
		return out, nil
	}
	out.New = between.judged
	return out, nil
}

func releaseBefore(r Release, earlier []Release, posted map[int64][]BuildMigrations) (before Release, found bool) {
	for _, e := range earlier {
		switch {
		case !anyPosted(posted[e.ID]):
		case e.Line == r.Line:
			return e, true
		case !found:
			before, found = e, true
		}
	}
	return before, found
}

func anyPosted(builds []BuildMigrations) bool {
	for _, b := range builds {
		if b.Migrations.Tool != "" {
			return true
		}
	}
	return false
}
