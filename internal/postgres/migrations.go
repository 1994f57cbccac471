package postgres

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

// saveMigrations stores a set of migrations, unless it is stored already. Nil is no set.
func (t *tx) saveMigrations(ctx context.Context, m *promotion.Migrations) (*int64, error) {
	if m == nil {
		return nil, nil
	}
	id, err := t.q.SaveMigrationSet(ctx, dbsqlc.SaveMigrationSetParams{Sha256: m.Set(), Tool: m.Tool})
	if errors.Is(err, pgx.ErrNoRows) {
		id, err = t.q.MigrationSet(ctx, m.Set())
		return &id, err
	} else if err != nil {
		return nil, err
	}
	texts := dbsqlc.SaveMigrationTextsParams{}
	files := dbsqlc.SaveMigrationSetFilesParams{MigrationSetID: id}
	for _, f := range m.Files {
		texts.Hashes, texts.Texts = append(texts.Hashes, f.SHA256), append(texts.Texts, f.SQL)
		files.Names, files.Hashes = append(files.Names, f.Name), append(files.Hashes, f.SHA256)
	}
	if err := t.q.SaveMigrationTexts(ctx, texts); err != nil {
		return nil, err
	}
	return &id, t.q.SaveMigrationSetFiles(ctx, files)
}

func (r reader) MigrationsOf(ctx context.Context, releaseIDs []int64) (map[int64][]promotion.BuildMigrations, error) {
	builds, err := r.q.BuildsOfReleases(ctx, releaseIDs)
	if err != nil {
		return nil, err
	}
	sets := map[int64][]promotion.MigrationFile{}
	for _, b := range builds {
		if b.MigrationSetID != nil {
			sets[*b.MigrationSetID] = nil
		}
	}
	files, err := r.q.MigrationSetFiles(ctx, slices.Collect(maps.Keys(sets)))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		sets[f.MigrationSetID] = append(sets[f.MigrationSetID], promotion.MigrationFile{Name: f.Name, SHA256: f.Sha256})
	}
	all := map[int64][]promotion.BuildMigrations{}
	for _, b := range builds {
		all[b.ReleaseID] = append(all[b.ReleaseID], promotion.BuildMigrations{BuildID: b.ID, Group: b.BuildGroup,
			Repositories: b.Repositories, Migrations: promotion.Migrations{Tool: b.Tool, Files: sets[value(b.MigrationSetID)]}})
	}
	return all, nil
}

func (r reader) MigrationTexts(ctx context.Context, hashes []string) (map[string]string, error) {
	rows, err := r.q.MigrationTexts(ctx, list(hashes))
	texts := make(map[string]string, len(rows))
	for _, row := range rows {
		texts[row.Sha256] = row.Sql
	}
	return texts, err
}

func (r reader) MigrationsKnown(ctx context.Context, applicationID int64) (bool, error) {
	return r.q.MigrationsKnown(ctx, applicationID)
}

func (r reader) RanSince(ctx context.Context, targetID, releaseID int64) ([]promotion.Release, error) {
	ids, err := r.q.RanSince(ctx, dbsqlc.RanSinceParams{Target: targetID, Release: releaseID})
	if err != nil {
		return nil, err
	}
	return r.releases(ctx, ids)
}
