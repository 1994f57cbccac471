package migration

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Since parts files into those after a version, and those up to it, which were applied already. A version is the number or
// version of a file, as its tool writes it (45 and 00045 are the same), or a file's name. It must be that of one of the files: after
// a version that was mistyped there would seem to be nothing. Repeatable files of Flyway may run at any time, and count as after.
func Since(tool Tool, files []File, version string) (after, before []File, err error) {
	if err := Order(tool, files); err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(files, func(f File) bool {
		base := path.Base(f.Name)
		return base == version || strings.TrimSuffix(base, path.Ext(base)) == version
	})
	var at place
	switch {
	case i >= 0:
		at = placeOf(tool, files[i].Name)
	case tool != Plain:
		at = place{version: versionParts(version)}
	}
	compare := compareVersions
	if tool == Plain {
		compare = slices.Compare[[]string]
	}
	known := slices.ContainsFunc(files, func(f File) bool {
		p := placeOf(tool, f.Name)
		return !p.last && compare(p.version, at.version) == 0
	})
	if len(at.version) == 0 || !known {
		return nil, nil, fmt.Errorf("no migration has the version %q: give the number, version or file name of the last one that was applied", version)
	}
	for _, f := range files {
		if p := placeOf(tool, f.Name); p.last || compare(p.version, at.version) > 0 {
			after = append(after, f)
		} else {
			before = append(before, f)
		}
	}
	return after, before, nil
}

// placeOf is where a file stands whose name its tool knows. Plain files stand by their names.
func placeOf(tool Tool, name string) place {
	base := path.Base(name)
	var p place
	switch tool {
	case Goose:
		p.version = versionParts(gooseName.FindStringSubmatch(base)[1])
	case GolangMigrate:
		p, _ = readMigrateName(base) // it was put in order before
	case Flyway:
		p, _ = readFlywayName(base)
	default:
		p.version = []string{base}
	}
	return p
}
