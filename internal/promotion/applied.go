package promotion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/rollback"
)

// DatabaseKey names the database of an application in an environment.
type DatabaseKey struct{ Application, Environment string }

// AppliedReader reads what a migration tool has recorded in an application's database. It writes nothing there.
type AppliedReader interface {
	// Applied is an error unless all of it was read. The error says why, and neither where the database is nor who asks.
	Applied(ctx context.Context, tool string) (AppliedMigrations, error)
}

// AppliedMigrations is what a tool's table says. Versions are as the tool writes them.
type AppliedMigrations struct {
	Table    string   `json:"table"`
	Versions []string `json:"versions"`       // that the table has as applied, in its order
	UpTo     string   `json:"up_to"`          // every migration up to this one was applied, though the table has no row for each; empty: none
	Half     string   `json:"half,omitempty"` // what has stopped half-way; empty: nothing
}

// askedDatabase is a database's answer.
type askedDatabase struct {
	AppliedMigrations
	err error
}

// compareDatabase puts what a target's database has really applied beside what releases say of it. It is asked once for all steps.
func (s *Service) compareDatabase(ctx context.Context, t Target, steps []*DataFacts) {
	answers := map[string]askedDatabase{}
	for _, d := range steps {
		if d.Tool == "" {
			continue // there is nothing to compare: no database, or what releases say is not known
		}
		answer, asked := answers[d.Tool]
		if !asked {
			answer = s.askDatabase(ctx, t, d.Tool)
			answers[d.Tool] = answer
		}
		s.compareApplied(d, answer)
	}
}

// database is the reader of a target's database; nil when none is configured.
func (s *Service) database(t Target) AppliedReader {
	return s.Databases[DatabaseKey{t.Application, t.Environment}]
}

// askDatabase does not wait longer than its deadline, whatever the reader does.
func (s *Service) askDatabase(ctx context.Context, t Target, tool string) askedDatabase {
	reader := s.database(t)
	if reader == nil {
		return askedDatabase{err: fmt.Errorf("what the database of %s in %s has applied is not read: no application_databases of the server's configuration names it", t.Application, t.Environment)}
	}
	ctx, cancel := context.WithTimeout(ctx, s.Patience.source())
	defer cancel()
	a, ok := awaited(ctx, func() askedDatabase {
		a, err := reader.Applied(ctx, tool)
		return askedDatabase{a, err}
	})
	if !ok {
		a.err = errors.New("it gave no answer in time")
	}
	s.noteDatabase(ctx, DatabaseKey{t.Application, t.Environment}, a.err)
	if a.err != nil {
		a.err = fmt.Errorf("what the database of %s in %s has applied could not be read: %w", t.Application, t.Environment, a.err)
	}
	return a
}

// compareApplied takes the database's word for what it has, and says where releases say otherwise. What was not applied yet is
// judged as though it were: it may be at any moment.
func (s *Service) compareApplied(d *DataFacts, a askedDatabase) {
	if a.err != nil {
		d.Unread = append(d.Unread, a.err.Error())
		return
	}
	d.Applied, d.Data.SchemaState = &a.AppliedMigrations, rollback.Clean
	names := slices.Clone(d.had)
	for _, m := range d.Between {
		names = append(names, m.File)
	}
	pending, strange := s.Migrations.Compare(d.Tool, names, a.AppliedMigrations)
	var lacking, later []string
	for _, name := range pending {
		if slices.Contains(d.had, name) {
			lacking = append(lacking, name)
		} else {
			later = append(later, name)
		}
	}
	if len(strange) > 0 {
		d.Data.MigrationList = rollback.Unread
		d.Unread = append(d.Unread, fmt.Sprintf("the database has applied %s (%s), which no release here has", strings.Join(strange, ", "), a.Table))
	}
	if len(lacking) > 0 && !d.brings {
		d.Data.SchemaState = rollback.Unread
		d.Unread = append(d.Unread, fmt.Sprintf("the database has not applied %s (%s), which %s needs", strings.Join(lacking, ", "), a.Table, d.candidate))
	}
	if len(later) > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("the database has not applied %s yet (%s)", strings.Join(later, ", "), a.Table))
	}
	if a.Half != "" {
		d.Data.SchemaState = rollback.HalfApplied
		d.Unread = append(d.Unread, fmt.Sprintf("migration %s has stopped half-way in the database (%s)", a.Half, a.Table))
	}
}
