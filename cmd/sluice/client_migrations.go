package main

import (
	"errors"
	"os"
	"unicode/utf8"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/migration"
)

// readMigrations reads the migrations that are posted with a build; nil without a folder. What the server would refuse is
// refused here already, so that a password does not leave the machine.
func readMigrations(folder, tool string) (*api.BuildMigrations, error) {
	switch {
	case folder == "" && tool != "":
		return nil, wrongUse("--migrations-tool is given without --migrations: name the folder that holds them")
	case folder == "":
		return nil, nil
	case tool == "":
		return nil, wrongUse("--migrations-tool is missing: give plain, goose, golang-migrate or flyway")
	}
	files, err := migration.ReadFiles(os.DirFS(folder), migration.Tool(tool))
	if err == nil {
		err = errors.Join(migration.Credential(files), migration.Order(migration.Tool(tool), files))
	}
	switch {
	case err != nil:
		return nil, wrongUse("%s: %w", folder, err)
	case len(files) == 0:
		return nil, wrongUse("%s holds no migration files of %s", folder, tool)
	}
	m := &api.BuildMigrations{Tool: api.BuildMigrationsTool(tool)}
	for _, f := range files {
		if !utf8.ValidString(f.Content) {
			return nil, wrongUse("%s: %s is not valid UTF-8: save it as UTF-8", folder, f.Name)
		}
		m.Files = append(m.Files, api.BuildMigration{Name: f.Name, SQL: f.Content})
	}
	return m, nil
}
