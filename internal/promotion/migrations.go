package promotion

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Migrations are the SQL migrations of a build: all that its source has, also those that were applied long ago.
type Migrations struct {
	Tool  string          `json:"tool"` // that runs them: plain, goose, golang-migrate or flyway
	Files []MigrationFile `json:"files"`
}

// MigrationFile is one file of them. What tells it from others is its name and hash; the text is stored once per hash.
type MigrationFile struct {
	Name   string `json:"name"`   // path from the folder of migrations
	SHA256 string `json:"sha256"` // of the text, 64 hex digits
	SQL    string `json:"-"`
}

// BuildMigrations is what one build of a release posted of migrations.
type BuildMigrations struct {
	BuildID      int64
	Group        string
	Repositories []string   // of the release's images that it posted
	Migrations   Migrations // without texts; no tool when it posted none
}

// MigrationRuns says when a tool runs a file.
type MigrationRuns string

// A file runs once, again whenever its text is another, or only to go back or to begin anew.
const (
	RunsOnce       MigrationRuns = "once"
	RunsOnChange   MigrationRuns = "on change"
	RunsNotForward MigrationRuns = "not forward"
)

// MigrationReader reads SQL migrations; it runs nothing.
type MigrationReader interface {
	// Refuse says why migrations cannot be stored: files that their tool would not run, or one that holds a credential.
	Refuse(m Migrations) error
	// Runs says when the tool runs a file of this name.
	Runs(tool, name string) MigrationRuns
	// Judge says of files, in the order in which the tool runs them, whether code that knows only those before can live with
	// them. Files need their texts.
	Judge(tool string, files, before []MigrationFile) ([]JudgedMigration, error)
	// Compare says which of the files named were not applied, and which applied versions are of none of them. Files that run again on
	// change are neither.
	Compare(tool string, names []string, applied AppliedMigrations) (pending, strange []string)
}

// JudgedMigration is what was found of one migration that another release knows nothing of.
type JudgedMigration struct {
	File       string            `json:"file"`
	SHA256     string            `json:"sha256"`
	Release    string            `json:"release"`    // version of the release that has it
	Verdict    string            `json:"verdict"`    // compatible, unknown or breaking
	Reversible string            `json:"reversible"` // yes, unknown or no
	Statements []JudgedStatement `json:"statements"`
}

// JudgedStatement is what was found of one statement.
type JudgedStatement struct {
	Line       int    `json:"line"` // from 1
	Kind       string `json:"kind"` // PostgreSQL's name of the command
	Verdict    string `json:"verdict"`
	Reversible string `json:"reversible"`
	Reason     string `json:"reason"` // a code, such as drop-column
	Text       string `json:"text"`   // the reason in words
}

// maxMigrationName is the most bytes of a migration's name.
const maxMigrationName = 255

// hashed is a copy with the hashes of the texts, in the order of names.
func (m *Migrations) hashed() *Migrations {
	if m == nil {
		return nil
	}
	files := slices.Clone(m.Files)
	for i, f := range files {
		sum := sha256.Sum256([]byte(f.SQL))
		files[i].SHA256 = hex.EncodeToString(sum[:])
	}
	slices.SortFunc(files, func(a, b MigrationFile) int { return strings.Compare(a.Name, b.Name) })
	return &Migrations{Tool: m.Tool, Files: files}
}

// Set identifies migrations by their tool, names and hashes: 64 hex digits.
func (m Migrations) Set() string {
	sum := sha256.New()
	_, _ = fmt.Fprintln(sum, m.Tool) // a hash takes everything
	for _, f := range m.Files {
		_, _ = fmt.Fprintf(sum, "%s %q\n", f.SHA256, f.Name)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// validate refuses what cannot be a list of files.
func (m Migrations) validate() error {
	if len(m.Files) == 0 {
		return invalid("no-migrations", "migrations.files",
			"migrations.files is empty: post every migration of the source, or leave migrations out; an application without a database says database: none in its sluice.yaml")
	}
	seen := map[string]bool{}
	for i, f := range m.Files {
		field := fmt.Sprintf("migrations.files[%d].name", i)
		switch {
		case f.Name == "" || len(f.Name) > maxMigrationName || strings.ContainsFunc(f.Name, unicode.IsControl):
			return invalid("malformed-migration-name", field, "%s is %q: give the file's name, 1 to %d bytes without control characters", field, f.Name, maxMigrationName)
		case seen[f.Name]:
			return invalid("duplicate-migration", field, "%s is posted twice in one build; post each file once", f.Name)
		}
		seen[f.Name] = true
	}
	return nil
}
