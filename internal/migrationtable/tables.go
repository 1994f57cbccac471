package migrationtable

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/promotion"
)

// table is how a tool records what it has applied.
type table struct {
	table, columns, order string
	read                  func(pgx.Rows, *promotion.AppliedMigrations) error
}

var tables = map[string]table{
	"goose":          {"goose_db_version", "version_id, is_applied", "id", readGoose},
	"golang-migrate": {"schema_migrations", "version, dirty", "version", readMigrate},
	"flyway":         {"flyway_schema_history", "coalesce(version, ''), type, script, success", "installed_rank", readFlyway},
}

// oddity is what a table has that its tool does not write. It is said as it is.
type oddity string

func (o oddity) Error() string { return string(o) }

func collect[T any](rows pgx.Rows) ([]T, error) {
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[T])
	if err == nil && len(all) > mostRows {
		return nil, oddity(fmt.Sprintf("has more than %d rows", mostRows))
	}
	return all, err
}

// readGoose takes the last row of each version: going back adds one, or takes it away. The first row stands for none.
func readGoose(rows pgx.Rows, a *promotion.AppliedMigrations) error {
	all, err := collect[struct {
		Version int64
		Applied bool
	}](rows)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return oddity("is empty, though goose writes a row when it makes it")
	}
	for _, row := range all {
		version := strconv.FormatInt(row.Version, 10)
		a.Versions = slices.DeleteFunc(a.Versions, func(v string) bool { return v == version })
		if row.Applied && row.Version != 0 {
			a.Versions = append(a.Versions, version)
		}
	}
	return nil
}

// readMigrate takes the only row: golang-migrate records the newest version alone. Below zero is none.
func readMigrate(rows pgx.Rows, a *promotion.AppliedMigrations) error {
	all, err := collect[struct {
		Version int64
		Dirty   bool
	}](rows)
	switch {
	case err != nil:
		return err
	case len(all) == 0:
		return nil
	case len(all) > 1:
		return oddity("has more than one row: it is not golang-migrate's")
	}
	version := strconv.FormatInt(all[0].Version, 10)
	if all[0].Version >= 0 {
		a.Versions, a.UpTo = append(a.Versions, version), version
	}
	if all[0].Dirty {
		a.Half = version
	}
	return nil
}

// readFlyway follows the history. What it calls deleted was applied all the same.
func readFlyway(rows pgx.Rows, a *promotion.AppliedMigrations) error {
	all, err := collect[struct {
		Version, Kind, Script string
		Success               bool
	}](rows)
	if err != nil {
		return err
	}
	for _, row := range all {
		undone := strings.HasPrefix(row.Kind, "UNDO")
		switch {
		case !row.Success:
			a.Half = row.Script
		case row.Version == "" || row.Kind == "DELETE":
		case strings.Contains(row.Kind, "BASELINE"):
			a.UpTo = row.Version
		default:
			a.Versions = slices.DeleteFunc(a.Versions, func(v string) bool { return v == row.Version })
			if !undone {
				a.Versions = append(a.Versions, row.Version)
			}
		}
	}
	return nil
}
