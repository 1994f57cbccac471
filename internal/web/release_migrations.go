package web

import (
	"fmt"

	"github.com/sluicehq/sluice/internal/promotion"
)

// migrationsView is a release's migrations: those that are new in it first, and all of them folded away.
type migrationsView struct {
	Said, Problem string
	New           []migrationView
	Files         []migrationFile
}

type migrationView struct {
	Mark       mark
	Name       string
	Reversible string
	Places     []string // file and line of each statement that is not compatible, with what it does
}

type migrationFile struct {
	Name string
	Hash shortened
}

func newMigrationsView(m promotion.ReleaseMigrations) *migrationsView {
	if m.Tool == "" {
		return nil
	}
	v := &migrationsView{Problem: m.Problem, Said: fmt.Sprintf("%s of %s.", plural(len(m.Files), "migration"), m.Tool)}
	switch {
	case m.Problem != "":
	case m.Since == "":
		v.Said += " No release before it posted any, so nothing is compared."
	case len(m.New) == 0:
		v.Said += fmt.Sprintf(" None is new since %s.", m.Since)
	default:
		v.Said += fmt.Sprintf(" New since %s: %d. Whether %s could go on after each:", m.Since, len(m.New), m.Since)
	}
	for _, j := range m.New {
		view := migrationView{Mark: migrationMark(j.Verdict), Name: j.File, Reversible: j.Reversible}
		for _, s := range j.Statements {
			if s.Verdict != "compatible" {
				view.Places = append(view.Places, fmt.Sprintf("%s:%d %s", j.File, s.Line, s.Text))
			}
		}
		v.New = append(v.New, view)
	}
	v.Files = each(m.Files, func(f promotion.MigrationFile) migrationFile {
		return migrationFile{Name: f.Name, Hash: shorten(f.SHA256)}
	})
	return v
}

func migrationMark(verdict string) mark {
	switch verdict {
	case "compatible":
		return mark{Shape: "check", Tone: "good", Word: "compatible", Title: "the release before can go on"}
	case "breaking":
		return mark{Shape: "stop", Tone: "bad", Word: "breaking", Title: "the release before cannot go on"}
	}
	return mark{Shape: "unknown", Tone: "warn", Word: "unknown", Title: "a person must say whether the release before can go on"}
}
