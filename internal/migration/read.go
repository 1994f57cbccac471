package migration

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// ReadFiles reads the migration files of a folder: for Flyway those in folders
// below it too, as Flyway does. Names are paths from the folder.
func ReadFiles(folder fs.FS, tool Tool) ([]File, error) {
	var files []File
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && tool != Flyway:
			return fs.SkipDir
		case entry.IsDir() || !isMigration(name, tool):
			return nil
		}
		content, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		files = append(files, File{Name: name, Content: string(content)})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the migrations: %w", err)
	}
	return files, nil
}

// isMigration leaves out what lies beside migrations, such as a README. Code in
// another language is a migration too where the tool runs it.
func isMigration(file string, tool Tool) bool {
	base := path.Base(file)
	switch {
	case strings.EqualFold(path.Ext(base), ".sql"):
		return true
	case tool == Goose:
		return gooseName.MatchString(base) && !strings.HasSuffix(base, "_test.go")
	case tool == GolangMigrate:
		return migrateName.MatchString(base)
	case tool == Flyway:
		return flywayName.MatchString(base)
	}
	return false
}
