package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

func target(d dbsqlc.TargetDetail) promotion.Target {
	return promotion.Target{ID: d.ID, ApplicationID: d.ApplicationID, Application: d.Application, Repository: d.Repository,
		Environment: d.Environment, Rank: int(d.Rank), Path: d.Path, Layout: d.Layout, RenderProblem: d.RenderProblem}
}

func targets(rows []dbsqlc.TargetDetail, err error) ([]promotion.Target, error) {
	all := make([]promotion.Target, len(rows))
	for i, d := range rows {
		all[i] = target(d)
	}
	return all, err
}

func (r reader) Targets(ctx context.Context) ([]promotion.Target, error) {
	return targets(r.q.Targets(ctx))
}

func (r reader) TargetsOf(ctx context.Context, applicationID int64) ([]promotion.Target, error) {
	return targets(r.q.TargetsOf(ctx, applicationID))
}

func (r reader) TargetNamed(ctx context.Context, application, environment string) (promotion.Target, error) {
	d, err := r.q.TargetNamed(ctx, dbsqlc.TargetNamedParams{Application: application, Environment: environment})
	return target(d), found(err)
}

func (r reader) RepositoryHead(ctx context.Context, repository string) (string, error) {
	head, err := r.q.RepositoryHead(ctx, repository)
	return head, found(err)
}

func (r reader) Repositories(ctx context.Context) ([]promotion.RepositoryStatus, error) {
	rows, err := r.q.Repositories(ctx)
	all := make([]promotion.RepositoryStatus, len(rows))
	for i, c := range rows {
		all[i] = promotion.RepositoryStatus{Name: c.Name, URL: c.Url, BaseBranch: c.BaseBranch, Head: c.Head,
			Problem: c.Problem, LookedAt: value(c.LookedAt)}
	}
	return all, err
}

func (r reader) ApplicationID(ctx context.Context, name string) (int64, error) {
	id, err := r.q.ApplicationID(ctx, name)
	return id, found(err)
}

func (r reader) LatestRevision(ctx context.Context, targetID int64) (promotion.TargetRevision, error) {
	all, err := r.RevisionsOf(ctx, targetID, 1)
	if err == nil && len(all) == 0 {
		return promotion.TargetRevision{}, promotion.ErrNotFound
	}
	if err != nil {
		return promotion.TargetRevision{}, err
	}
	return all[0], nil
}

func (r reader) RevisionsOf(ctx context.Context, targetID int64, limit int) ([]promotion.TargetRevision, error) {
	rows, err := r.q.RevisionsOf(ctx, dbsqlc.RevisionsOfParams{TargetID: targetID, Limit: int32(limit)})
	if err != nil {
		return nil, err
	}
	all := make([]promotion.TargetRevision, len(rows))
	for i, v := range rows {
		all[i] = promotion.TargetRevision{TargetID: v.TargetID, RenderedHash: v.RenderedHash,
			ReleaseID: value(v.ReleaseID), PromotionID: value(v.PromotionID),
			Commit: promotion.Commit{SHA: v.Commit, Author: v.Author, Message: v.Message, When: v.CommittedAt}}
		if err := json.Unmarshal(v.Images, &all[i].Images); err != nil {
			return nil, fmt.Errorf("images of revision %s: %w", v.Commit, err)
		}
	}
	return all, nil
}

func (t *tx) SaveRepository(ctx context.Context, r promotion.RepositoryStatus) error {
	return t.q.SaveRepository(ctx, dbsqlc.SaveRepositoryParams{Name: r.Name, Url: r.URL, BaseBranch: r.BaseBranch,
		Head: r.Head, Problem: r.Problem, LookedAt: r.LookedAt})
}

func (t *tx) SaveApplication(ctx context.Context, repository, name string, at time.Time) (int64, error) {
	return t.q.SaveApplication(ctx, dbsqlc.SaveApplicationParams{Name: name, FoundAt: at, Repository: repository})
}

func (t *tx) SaveTarget(ctx context.Context, g promotion.Target, at time.Time) (int64, error) {
	return t.q.SaveTarget(ctx, dbsqlc.SaveTargetParams{ApplicationID: g.ApplicationID, Environment: g.Environment,
		Rank: int32(g.Rank), Path: g.Path, Layout: g.Layout, RenderProblem: g.RenderProblem, FoundAt: at})
}

func (t *tx) RemoveTargetsExcept(ctx context.Context, repository string, ids []int64, at time.Time) error {
	if ids == nil {
		ids = []int64{}
	}
	err := t.q.RemoveTargetsExcept(ctx, dbsqlc.RemoveTargetsExceptParams{At: at, Repository: repository, Present: ids})
	if err != nil {
		return err
	}
	return t.q.RemoveEmptyApplications(ctx, at)
}

func (t *tx) NameRevisionsPromotion(ctx context.Context, targetID int64, commit string, promotionID int64) error {
	return t.q.NameRevisionsPromotion(ctx, dbsqlc.NameRevisionsPromotionParams{TargetID: targetID, Commit: commit, Promotion: promotionID})
}

func (t *tx) ImagesOf(ctx context.Context, applicationID int64) ([]string, error) {
	return t.q.ImagesOf(ctx, applicationID)
}

func (t *tx) InsertTargetRevision(ctx context.Context, v promotion.TargetRevision) error {
	images, err := document(v.Images)
	if err != nil {
		return err
	}
	return t.q.InsertTargetRevision(ctx, dbsqlc.InsertTargetRevisionParams{TargetID: v.TargetID, Commit: v.Commit.SHA,
		Author: v.Commit.Author, Message: v.Commit.Message, CommittedAt: v.Commit.When, RenderedHash: v.RenderedHash,
		Images: images, ReleaseID: nullID(v.ReleaseID), PromotionID: nullID(v.PromotionID)})
}
