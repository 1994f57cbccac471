package migration

import (
	"path"
	"slices"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Compare implements promotion.MigrationReader.
func (Reader) Compare(tool string, names []string, applied promotion.AppliedMigrations) (pending, strange []string) {
	var recorded [][]string
	for _, v := range applied.Versions {
		recorded = append(recorded, versionParts(v))
	}
	upTo := versionParts(applied.UpTo)
	var known [][]string
	for _, name := range names {
		p := placeOf(Tool(tool), name)
		if p.down || p.last || p.skipped {
			continue // no version of it tells whether it ran
		}
		known = append(known, p.version)
		covered := len(upTo) > 0 && compareVersions(p.version, upTo) <= 0
		if !covered && !hasVersion(recorded, p.version) {
			pending = append(pending, path.Base(name))
		}
	}
	for i, v := range recorded {
		if !hasVersion(known, v) {
			strange = append(strange, applied.Versions[i])
		}
	}
	return pending, strange
}

func hasVersion(list [][]string, version []string) bool {
	return slices.ContainsFunc(list, func(v []string) bool { return compareVersions(v, version) == 0 })
}
