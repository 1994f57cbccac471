package promotion

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/rollback"
)

// Database is what an application's policy says of a database.
type Database string

// An application has none, or one whose migrations CI posts. A policy may also say nothing: it is then known from what CI posts.
const (
	DatabaseUnsaid   Database = ""
	DatabaseNone     Database = "none"
	DatabasePostgres Database = "postgres"
)

// DataFacts is what lies between two releases in an application's database, as rollback.Data wants it and as people read it.
type DataFacts struct {
	Data rollback.Data
	// Unchecked: nothing is connected. No build ever posted migrations, and the policy says nothing of a database.
	Unchecked bool
	Database  Database          // as the policy says
	Problem   string            // why the migrations in between are not known; empty when they are
	Tool      string            // that runs them; empty when there are none
	Between   []JudgedMigration // that current has and candidate does not, in the order in which the tool runs them

	Applied *AppliedMigrations // as the database itself says; nil when it was not read
	Unread  []string           // what of the database could not be read, or is otherwise than releases say, a sentence each
	Notes   []string           // what speaks against going back, with file and line, and where the database differs and that does not

	candidate string   // version
	had       []string // candidate's migrations that go forward
	brings    bool     // candidate was not here yet and brings what it lacks
}

// dataFacts says whether candidate can work with what current's migrations have left behind in a target's database, and those of
// releases that ran there in between: going back in Git undoes none. What cannot be read is unknown, and Problem says why.
func (s *Service) dataFacts(ctx context.Context, t Target, current, candidate Release) DataFacts {
	stays := false // Sluice runs no way back
	d := DataFacts{Data: rollback.Data{MigrationList: rollback.Unread, SchemaState: rollback.Unread, RollbackRunsDown: &stays, NewData: rollback.Missing},
		candidate: candidate.Version}
	if err := s.findMigrations(ctx, t, current, candidate, &d); err != nil {
		d.Data.MigrationList, d.Data.Migrations, d.Problem = rollback.Unread, nil, err.Error()
	}
	return d
}

func (s *Service) findMigrations(ctx context.Context, t Target, current, candidate Release, d *DataFacts) error {
	p, err := s.PolicyFor(ctx, t)
	if err != nil {
		return fmt.Errorf("the policy could not be read: %w", err)
	}
	d.Database = p.Database
	known, err := s.Store.MigrationsKnown(ctx, t.ApplicationID)
	switch {
	case err != nil:
		return fmt.Errorf("whether builds posted migrations could not be read: %w", err)
	case p.Database == DatabaseNone && known:
		return fmt.Errorf("the policy of %s says database: none, but builds of it posted migrations", t.Application)
	case p.Database == DatabaseNone && s.database(t) != nil:
		return fmt.Errorf("the policy of %s says database: none, but the server's configuration names one of it in %s", t.Application, t.Environment)
	case p.Database == DatabaseNone:
		d.Data.MigrationList, d.Data.Migrations, d.Data.SchemaState, d.Data.NewData = rollback.Complete, []rollback.Migration{}, rollback.Clean, rollback.None
		return nil
	case p.Database == DatabaseUnsaid && !known && s.database(t) == nil:
		d.Unchecked = true
		return fmt.Errorf("no build of %s posted migrations, and its policy does not say whether it has a database", t.Application)
	}
	if current.ID == candidate.ID {
		d.Data.NewData = rollback.OldCanRead // the same code
	}
	between, err := s.migrationsIn(ctx, t, current, candidate)
	if err != nil {
		return err
	}
	if err := s.judgeMigrations(ctx, between); err != nil {
		return err
	}
	d.Tool, d.Between = between.tool, between.judged
	for _, m := range between.before {
		d.had = append(d.had, m.Name)
	}
	d.Data.MigrationList, d.Data.Migrations = rollback.Complete, []rollback.Migration{}
	for _, m := range between.judged {
		d.Data.Migrations = append(d.Data.Migrations, rollback.Migration{ID: migrationID(m.File), Verdict: rollback.State(m.Verdict),
			Reversible: rollback.State(m.Reversible), DeclaredReversible: rollback.Missing})
	}
	d.Notes = slices.Concat(d.Said(rollback.Breaking), d.Said(rollback.Unknown))
	return nil
}

// judgeMigrations reads the texts of what lies between, and of what was there before, and has them judged.
func (s *Service) judgeMigrations(ctx context.Context, b *migrationsBetween) error {
	if len(b.newer) == 0 {
		return nil
	}
	var hashes []string
	for _, f := range slices.Concat(b.newer, b.before) {
		hashes = append(hashes, f.SHA256)
	}
	texts, err := s.Store.MigrationTexts(ctx, hashes)
	if err != nil {
		return fmt.Errorf("the texts of the migrations could not be read: %w", err)
	}
	for _, files := range [][]MigrationFile{b.newer, b.before} {
		for i, f := range files {
			text, stored := texts[f.SHA256]
			if !stored {
				return fmt.Errorf("the text of migration %s is not stored", f.Name)
			}
			files[i].SQL = text
		}
	}
	if b.judged, err = s.Migrations.Judge(b.tool, b.newer, b.before); err != nil {
		return fmt.Errorf("the migrations could not be judged: %w", err)
	}
	for i, m := range b.judged {
		at := slices.IndexFunc(b.newer, func(f MigrationFile) bool { return f.Name == m.File })
		if at < 0 {
			return fmt.Errorf("migration %s was judged and is not among those asked for", m.File)
		}
		b.judged[i].SHA256, b.judged[i].Release = b.newer[at].SHA256, b.releases[m.File]
	}
	return nil
}

// migrationID names a migration in a verdict: its file without what says which language it is in.
func migrationID(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, ".sql"), ".up")
}

// worst is the statement that weighs most against the version before, the first of equals.
func (m JudgedMigration) worst() JudgedStatement {
	rank := map[string]int{string(rollback.Compatible): 0, string(rollback.Unknown): 1, string(rollback.Breaking): 2}
	var worst JudgedStatement
	for i, s := range m.Statements {
		if i == 0 || rank[s.Verdict] > rank[worst.Verdict] {
			worst = s
		}
	}
	return worst
}

// Said is one sentence for each migration with this verdict, with file and line.
func (d DataFacts) Said(verdict rollback.State) []string {
	var said []string
	for _, m := range d.Between {
		if m.Verdict == string(verdict) {
			w := m.worst()
			said = append(said, fmt.Sprintf("%s:%d %s", m.File, w.Line, w.Text))
		}
	}
	return said
}
