package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (r reader) AuthorsOf(ctx context.Context, releaseID int64) (map[string][]string, error) {
	rows, err := r.q.AuthorsOf(ctx, releaseID)
	all := make(map[string][]string, len(rows))
	for _, row := range rows {
		all[row.Repository] = row.Authors
	}
	return all, err
}

func (t *tx) InsertBuild(ctx context.Context, b promotion.Build) (id int64, created bool, err error) {
	set, err := t.saveMigrations(ctx, b.Migrations)
	if err != nil {
		return 0, false, err
	}
	id, err = t.q.InsertBuild(ctx, dbsqlc.InsertBuildParams{Fingerprint: b.Fingerprint, IdempotencyKey: nullText(b.IdempotencyKey),
		Version: b.Version, Line: b.Line, BuildGroup: b.Group, GroupExpects: list(b.GroupExpects),
		SourceRepository: b.Source.Repository, SourceCommit: b.Source.Commit, SourceRef: b.Source.Ref, SourceAuthors: list(b.Source.Authors),
		CiProvider: b.CI.Provider, CiRunUrl: b.CI.RunURL, PostedBy: b.PostedBy, PostedAt: b.PostedAt, MigrationSetID: set})
	if errors.Is(err, pgx.ErrNoRows) {
		id, err = t.q.BuildByFingerprint(ctx, b.Fingerprint)
		if errors.Is(err, pgx.ErrNoRows) {
			return 0, false, nil // it is the idempotency key that was taken
		}
		return id, false, err
	} else if err != nil {
		return 0, false, err
	}
	p := dbsqlc.InsertBuildArtifactsParams{BuildID: id}
	for _, a := range b.Artifacts {
		p.Repositories = append(p.Repositories, a.Repository)
		p.Digests = append(p.Digests, a.Digest)
		p.Tags = append(p.Tags, strings.Join(a.Tags, " "))
	}
	for _, a := range b.Attestations {
		if _, err := t.InsertAttestation(ctx, promotion.Attestation{BuildID: id, Subject: a.Subject, Verdict: a.Verdict, Since: a.Since, Reason: a.Summary,
			By: b.PostedBy, At: b.PostedAt}); err != nil {
			return 0, false, err
		}
	}
	if err := t.q.InsertBuildArtifacts(ctx, p); err != nil || len(b.Charts) == 0 {
		return id, true, err
	}
	charts := dbsqlc.InsertBuildChartsParams{BuildID: id}
	for _, c := range b.Charts {
		charts.Names, charts.Versions = append(charts.Names, c.Name), append(charts.Versions, c.Version)
	}
	return id, true, t.q.InsertBuildCharts(ctx, charts)
}

func (t *tx) RememberKey(ctx context.Context, key string, buildID int64) error {
	if key == "" || buildID == 0 {
		return nil
	}
	return t.q.RememberKey(ctx, dbsqlc.RememberKeyParams{IdempotencyKey: key, BuildID: buildID})
}

func (t *tx) BuildByKey(ctx context.Context, key string) (promotion.Build, error) {
	row, err := t.q.BuildByKey(ctx, key)
	if err != nil {
		return promotion.Build{}, found(err)
	}
	return t.oneBuild(ctx, row)
}

func (r reader) BuildsOfGroup(ctx context.Context, group string) ([]promotion.Build, error) {
	rows, err := r.q.BuildsOfGroup(ctx, group)
	if err != nil {
		return nil, err
	}
	return r.builds(ctx, rows)
}

func (r reader) BuildOutcome(ctx context.Context, buildID int64) (out promotion.BuildOutcome, err error) {
	if out.Build, err = r.BuildByID(ctx, buildID); err != nil {
		return out, err
	}
	releases, err := r.q.ReleasesOfBuild(ctx, buildID)
	if err != nil {
		return out, err
	}
	if out.Releases, err = r.releases(ctx, releases); err != nil {
		return out, err
	}
	promotions, err := r.q.PromotionsOfBuild(ctx, buildID)
	if err != nil {
		return out, err
	}
	for _, id := range promotions {
		p, err := r.Promotion(ctx, id)
		if err != nil {
			return out, err
		}
		out.Promotions = append(out.Promotions, p)
	}
	return out, nil
}

func (r reader) BuildByID(ctx context.Context, id int64) (promotion.Build, error) {
	row, err := r.q.BuildByID(ctx, id)
	if err != nil {
		return promotion.Build{}, found(err)
	}
	return r.oneBuild(ctx, row)
}

func (r reader) oneBuild(ctx context.Context, row dbsqlc.Build) (promotion.Build, error) {
	all, err := r.builds(ctx, []dbsqlc.Build{row})
	if err != nil {
		return promotion.Build{}, err
	}
	return all[0], nil
}

func (r reader) builds(ctx context.Context, rows []dbsqlc.Build) ([]promotion.Build, error) {
	ids := make([]int64, len(rows))
	for i, b := range rows {
		ids[i] = b.ID
	}
	artifacts, err := r.q.BuildArtifacts(ctx, ids)
	if err != nil {
		return nil, err
	}
	charts, err := r.q.BuildCharts(ctx, ids)
	if err != nil {
		return nil, err
	}
	all := make([]promotion.Build, len(rows))
	for i, b := range rows {
		all[i] = promotion.Build{ID: b.ID, Fingerprint: b.Fingerprint, IdempotencyKey: value(b.IdempotencyKey), Version: b.Version,
			Line: b.Line, Group: b.BuildGroup, GroupExpects: b.GroupExpects, PostedBy: b.PostedBy, PostedAt: b.PostedAt,
			Source: promotion.Source{Repository: b.SourceRepository, Commit: b.SourceCommit, Ref: b.SourceRef, Authors: b.SourceAuthors},
			CI:     promotion.CIRun{Provider: b.CiProvider, RunURL: b.CiRunUrl}}
		for _, a := range artifacts {
			if a.BuildID == b.ID {
				all[i].Artifacts = append(all[i].Artifacts, promotion.BuildArtifact{Repository: a.Repository, Digest: a.Digest, Tags: a.Tags})
			}
		}
		for _, c := range charts {
			if c.BuildID == b.ID {
				all[i].Charts = append(all[i].Charts, promotion.Chart{Name: c.Name, Version: c.Version})
			}
		}
	}
	return all, nil
}
