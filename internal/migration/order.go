package migration

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Tool is what runs the migrations.
type Tool string

// Tools whose files can be read.
const (
	Plain         Tool = "plain" // SQL files in the order of their names
	Goose         Tool = "goose"
	GolangMigrate Tool = "golang-migrate"
	Flyway        Tool = "flyway"
)

// File is a migration file.
type File struct {
	Name    string // with or without folders
	Content string
}

// unit is a file with its way back.
type unit struct {
	name     string
	up, down []action
}

var (
	gooseName   = regexp.MustCompile(`^([0-9]+)_.*\.(sql|go)$`)
	migrateName = regexp.MustCompile(`^([0-9]+)_.*\.(up|down)\.[^.]+$`)
	flywayName  = regexp.MustCompile(`^(?:([VUB])([0-9]+(?:[._][0-9]+)*)|(R))__.*\.[A-Za-z]+$`)
)

// arrange puts the files into the order in which the tool runs them, each with
// its Down. A file that the tool would not run under its name is an error: what
// is left out unseen would pass for harmless.
func arrange(tool Tool, files []File) ([]unit, error) {
	switch tool {
	case Plain:
		return arrangePlain(files), nil
	case Goose:
		return arrangeGoose(files)
	case GolangMigrate:
		return arrangePairs(files, readMigrateName)
	case Flyway:
		return arrangePairs(files, readFlywayName)
	}
	return nil, fmt.Errorf("tool %q is not one of plain, goose, golang-migrate and flyway", tool)
}

func arrangePlain(files []File) []unit {
	var units []unit
	for _, f := range sortedByName(files) {
		units = append(units, unit{name: f.Name, up: plainActions(f)})
	}
	return units
}

func arrangeGoose(files []File) ([]unit, error) {
	type numbered struct {
		version string
		unit    unit
	}
	var all []numbered
	for _, f := range sortedByName(files) {
		match := gooseName.FindStringSubmatch(path.Base(f.Name))
		if match == nil {
			return nil, fmt.Errorf("%s is not named as goose names migrations (00001_title.sql)", f.Name)
		}
		up, down, found := gooseSections(withoutMark(f.Content))
		u := unit{name: f.Name, up: actions(up), down: actions(down)}
		// Go code, or SQL that goose would refuse: what it does is not to be seen.
		if match[2] == "go" || !found {
			u = unit{name: f.Name, up: []action{{n: 1, line: 1}}}
		}
		all = append(all, numbered{plainNumber(match[1]), u})
	}
	slices.SortStableFunc(all, func(a, b numbered) int { return compareNumbers(a.version, b.version) })
	var units []unit
	for i, n := range all {
		if i > 0 && all[i-1].version == n.version {
			return nil, fmt.Errorf("%s and %s have the same number", all[i-1].unit.name, n.unit.name)
		}
		units = append(units, n.unit)
	}
	return units, nil
}

// place is where a file stands among others, read from its name.
type place struct {
	version []string // parts, as numbers without leading zeros
	down    bool
	last    bool // after all that have versions, by name
	skipped bool // not run on a database that exists
}

func readMigrateName(base string) (place, error) {
	match := migrateName.FindStringSubmatch(base)
	if match == nil {
		return place{}, fmt.Errorf("%s is not named as golang-migrate names migrations (1_title.up.sql, 1_title.down.sql)", base)
	}
	return place{version: []string{plainNumber(match[1])}, down: match[2] == "down"}, nil
}

func readFlywayName(base string) (place, error) {
	match := flywayName.FindStringSubmatch(base)
	if match == nil {
		return place{}, fmt.Errorf("%s is not named as Flyway names migrations (V1.2__title.sql, U1.2__title.sql, R__title.sql)", base)
	}
	if match[3] == "R" {
		return place{last: true}, nil
	}
	return place{version: versionParts(match[2]), down: match[1] == "U", skipped: match[1] == "B"}, nil
}

// versionParts takes a version apart; 1.0 is 1.
func versionParts(text string) []string {
	var version []string
	for _, number := range strings.FieldsFunc(text, func(r rune) bool { return r == '.' || r == '_' }) {
		version = append(version, plainNumber(number))
	}
	for len(version) > 1 && version[len(version)-1] == "0" {
		version = version[:len(version)-1]
	}
	return version
}

// arrangePairs orders files of which one goes forward and another comes back.
func arrangePairs(files []File, read func(base string) (place, error)) ([]unit, error) {
	ups, downs := map[string]File{}, map[string]File{}
	var versions [][]string
	var repeatable []unit
	for _, f := range sortedByName(files) {
		p, err := read(path.Base(f.Name))
		if err != nil {
			return nil, err
		}
		if p.last {
			repeatable = append(repeatable, unit{name: f.Name, up: plainActions(f)})
		}
		if p.last || p.skipped {
			continue
		}
		side, key := ups, strings.Join(p.version, ".")
		if p.down {
			side = downs
		} else {
			versions = append(versions, p.version)
		}
		if other, taken := side[key]; taken {
			return nil, fmt.Errorf("%s and %s have the same number", other.Name, f.Name)
		}
		side[key] = f
	}
	slices.SortFunc(versions, compareVersions)
	var units []unit
	for _, version := range versions {
		key := strings.Join(version, ".")
		u := unit{name: ups[key].Name, up: plainActions(ups[key])}
		if down, ok := downs[key]; ok {
			u.down = plainActions(down)
		}
		units = append(units, u)
	}
	return append(units, repeatable...), nil
}

func plainActions(f File) []action {
	if !strings.EqualFold(path.Ext(f.Name), ".sql") {
		return []action{{n: 1, line: 1}} // code of another language
	}
	return actions([]section{{text: withoutMark(f.Content), line: 1}})
}

// withoutMark takes away the byte order mark that some editors write.
func withoutMark(content string) string { return strings.TrimPrefix(content, "\ufeff") }

func sortedByName(files []File) []File {
	sorted := slices.Clone(files)
	slices.SortFunc(sorted, func(a, b File) int {
		if c := strings.Compare(path.Base(a.Name), path.Base(b.Name)); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return sorted
}

func plainNumber(digits string) string {
	if trimmed := strings.TrimLeft(digits, "0"); trimmed != "" {
		return trimmed
	}
	return "0"
}

// compareNumbers compares numbers of any length without leading zeros.
func compareNumbers(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

func compareVersions(a, b []string) int { return slices.CompareFunc(a, b, compareNumbers) }

// Order is an error when the tool would not run the files as they are: one has a name that it does not know, or two have the
// same number.
func Order(tool Tool, files []File) error {
	_, err := arrange(tool, files)
	return err
}
