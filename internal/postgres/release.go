package postgres

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

// releases reads releases with their artifacts and charts, in the order of the ids.
func (r reader) releases(ctx context.Context, ids []int64) ([]promotion.Release, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := r.q.ReleaseByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	artifacts, err := r.q.ReleaseArtifacts(ctx, ids)
	if err != nil {
		return nil, err
	}
	charts, err := r.q.ReleaseCharts(ctx, ids)
	if err != nil {
		return nil, err
	}
	marks, err := r.q.RollbackMarks(ctx, ids)
	if err != nil {
		return nil, err
	}
	all := make([]promotion.Release, 0, len(rows))
	for _, v := range rows {
		release := promotion.Release{ID: v.ID, ApplicationID: v.ApplicationID, Application: v.Application, Number: int(v.Number),
			Version: v.Version, Line: v.Line, Origin: promotion.Origin(v.Origin), BuildID: value(v.BuildID),
			RebuildOf: value(v.RebuildOf), Aliases: v.Aliases, CreatedAt: v.CreatedAt,
			RejectedBy: v.RejectedBy, RejectedAt: value(v.RejectedAt), Rejection: v.Rejection}
		for _, a := range artifacts {
			if a.ReleaseID == v.ID {
				release.Artifacts = append(release.Artifacts, promotion.Artifact{Name: a.Name, Repository: a.Repository,
					Digest: a.Digest, Tag: a.Tag, BuildID: value(a.BuildID), CarriedFrom: value(a.CarriedFrom)})
			}
		}
		for _, c := range charts {
			if c.ReleaseID == v.ID {
				release.Charts = append(release.Charts, promotion.ReleaseChart{Chart: promotion.Chart{Name: c.Name, Version: c.Version},
					BuildID: value(c.BuildID), CarriedFrom: value(c.CarriedFrom)})
			}
		}
		for _, m := range marks {
			if m.ReleaseID == v.ID {
				release.RolledBack = append(release.RolledBack, promotion.RollbackMark{PromotionID: m.PromotionID, Environment: m.Environment,
					By: m.RequestedBy, Reason: m.Reason, At: m.MarkedAt})
			}
		}
		all = append(all, release)
	}
	slices.SortFunc(all, func(a, b promotion.Release) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return all, nil
}

// release reads one release from the answer of a query for its id.
func (r reader) release(ctx context.Context, id int64, err error) (promotion.Release, error) {
	if err != nil {
		return promotion.Release{}, found(err)
	}
	all, err := r.releases(ctx, []int64{id})
	if err == nil && len(all) == 0 {
		err = promotion.ErrNotFound
	}
	if err != nil {
		return promotion.Release{}, err
	}
	return all[0], nil
}

func (r reader) Release(ctx context.Context, id int64) (promotion.Release, error) {
	return r.release(ctx, id, nil)
}

func (r reader) ReleaseVersion(ctx context.Context, application, version string) (promotion.Release, error) {
	id, err := r.q.ReleaseOfApplicationVersion(ctx, dbsqlc.ReleaseOfApplicationVersionParams{Application: application, Version: version})
	return r.release(ctx, id, err)
}

func (r reader) Releases(ctx context.Context, application string, before int64, limit int) ([]promotion.Release, error) {
	ids, err := r.q.Releases(ctx, dbsqlc.ReleasesParams{Application: application, Before: before, Most: int32(limit)})
	if err != nil {
		return nil, err
	}
	return r.releases(ctx, ids)
}

func (t *tx) ReleaseOfVersion(ctx context.Context, applicationID int64, version string) (promotion.Release, error) {
	id, err := t.q.ReleaseOfVersion(ctx, dbsqlc.ReleaseOfVersionParams{ApplicationID: applicationID, Version: version})
	return t.release(ctx, id, err)
}

func (t *tx) NewestRelease(ctx context.Context, applicationID int64, line string) (promotion.Release, error) {
	id, err := t.q.NewestRelease(ctx, dbsqlc.NewestReleaseParams{ApplicationID: applicationID, Line: line})
	return t.release(ctx, id, err)
}

func (t *tx) ReleaseWithArtifacts(ctx context.Context, applicationID int64, key string) (promotion.Release, error) {
	id, err := t.q.ReleaseWithArtifacts(ctx, dbsqlc.ReleaseWithArtifactsParams{ApplicationID: applicationID, ArtifactsKey: key})
	return t.release(ctx, id, err)
}

func (t *tx) ApplicationsUsing(ctx context.Context, repositories []string) ([]promotion.Release, error) {
	ids, err := t.q.NewestReleasesUsing(ctx, repositories)
	if err != nil {
		return nil, err
	}
	return t.releases(ctx, ids)
}

func (t *tx) InsertRelease(ctx context.Context, r promotion.Release, key string) (promotion.Release, error) {
	row, err := t.q.InsertRelease(ctx, dbsqlc.InsertReleaseParams{ApplicationID: r.ApplicationID, Version: r.Version, Line: r.Line,
		Origin: string(r.Origin), BuildID: nullID(r.BuildID), RebuildOf: nullID(r.RebuildOf), ArtifactsKey: key, CreatedAt: r.CreatedAt})
	if err != nil {
		return r, err
	}
	r.ID, r.Number = row.ID, int(row.Number)
	params := make([]dbsqlc.InsertReleaseArtifactParams, len(r.Artifacts))
	for i, a := range r.Artifacts {
		params[i] = dbsqlc.InsertReleaseArtifactParams{ReleaseID: r.ID, Repository: a.Repository, Digest: a.Digest, Tag: a.Tag,
			Name: a.Name, BuildID: nullID(a.BuildID), CarriedFrom: nullID(a.CarriedFrom)}
	}
	var failed error
	t.q.InsertReleaseArtifact(ctx, params).Exec(func(_ int, err error) { failed = errors.Join(failed, err) })
	if failed != nil || len(r.Charts) == 0 {
		return r, failed
	}
	charts := make([]dbsqlc.InsertReleaseChartParams, len(r.Charts))
	for i, c := range r.Charts {
		charts[i] = dbsqlc.InsertReleaseChartParams{ReleaseID: r.ID, Name: c.Name, Version: c.Version,
			BuildID: nullID(c.BuildID), CarriedFrom: nullID(c.CarriedFrom)}
	}
	t.q.InsertReleaseChart(ctx, charts).Exec(func(_ int, err error) { failed = errors.Join(failed, err) })
	return r, failed
}

func (t *tx) AddAlias(ctx context.Context, releaseID int64, version string, buildID int64, at time.Time) error {
	return t.q.InsertAlias(ctx, dbsqlc.InsertAliasParams{ReleaseID: releaseID, Version: version, BuildID: buildID, CreatedAt: at})
}

func (r reader) ReleaseOf(ctx context.Context, applicationID int64, references []string, charts []promotion.Chart, preferred int64) (int64, error) {
	p := dbsqlc.ReleaseOfParams{ApplicationID: applicationID, Preferred: preferred, Repositories: []string{}, Refs: list(references),
		Charts: []string{}, Versions: []string{}}
	for _, c := range charts {
		p.Charts, p.Versions = append(p.Charts, c.Name), append(p.Versions, c.Version)
	}
	for _, ref := range references {
		p.Repositories = append(p.Repositories, promotion.RepositoryOf(ref))
	}
	id, err := r.q.ReleaseOf(ctx, p)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return id, err
}

func (t *tx) SavePlatforms(ctx context.Context, index string, manifests []promotion.PlatformManifest) error {
	p := dbsqlc.SavePlatformsParams{IndexDigest: index}
	for _, m := range manifests {
		p.Digests, p.Platforms = append(p.Digests, m.Digest), append(p.Platforms, m.Platform)
	}
	return t.q.SavePlatforms(ctx, p)
}

func (r reader) Platforms(ctx context.Context, digests []string) (map[string]string, error) {
	rows, err := r.q.Platforms(ctx, list(digests))
	index := make(map[string]string, len(rows))
	for _, row := range rows {
		index[row.Digest] = row.IndexDigest
	}
	return index, err
}

func (t *tx) SaveRejection(ctx context.Context, r promotion.Release) error {
	return t.q.SaveRejection(ctx, dbsqlc.SaveRejectionParams{ID: r.ID, RejectedBy: r.RejectedBy, RejectedAt: nullTime(r.RejectedAt), Rejection: r.Rejection})
}

func (t *tx) MarkRolledBack(ctx context.Context, releaseID, promotionID int64, at time.Time) (bool, error) {
	n, err := t.q.MarkRolledBack(ctx, dbsqlc.MarkRolledBackParams{ReleaseID: releaseID, PromotionID: promotionID, MarkedAt: at})
	return n > 0, err
}

func (t *tx) ClearRollbackMarks(ctx context.Context, releaseID int64, by, reason string, at time.Time) error {
	return t.q.ClearRollbackMarks(ctx, dbsqlc.ClearRollbackMarksParams{ReleaseID: releaseID, By: by, Reason: reason, At: at})
}

func (t *tx) KeepMissed(ctx context.Context, m promotion.Missed, at time.Time) error {
	return t.q.KeepMissed(ctx, dbsqlc.KeepMissedParams{ReleaseID: m.ReleaseID, TargetID: m.TargetID, Reason: m.Reason,
		StartedByBuild: nullID(m.BuildID), HoldID: nullID(m.HoldID), MissedAt: at})
}

func (t *tx) TakeMissed(ctx context.Context, releaseID int64) ([]promotion.Missed, error) {
	rows, err := t.q.TakeMissed(ctx, releaseID)
	all := make([]promotion.Missed, len(rows))
	for i, row := range rows {
		all[i] = promotion.Missed{ReleaseID: row.ReleaseID, TargetID: row.TargetID, Reason: row.Reason, BuildID: value(row.StartedByBuild)}
	}
	return all, err
}

func (t *tx) TakeHeldBack(ctx context.Context, holdID int64) ([]promotion.Missed, error) {
	rows, err := t.q.TakeHeldBack(ctx, holdID)
	all := make([]promotion.Missed, len(rows))
	for i, row := range rows {
		all[i] = promotion.Missed{ReleaseID: row.ReleaseID, TargetID: row.TargetID, Reason: row.Reason, BuildID: value(row.StartedByBuild), HoldID: holdID}
	}
	return all, err
}
