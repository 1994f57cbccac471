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
		Environment: d.Environment, Rank: int(d.Rank), Path: d.Path, Layout: d.Layout, RenderProblem: d.RenderProblem, Removed: d.RemovedAt != nil}
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

func (r reader) TargetsAt(ctx context.Context, repository string, paths []string) ([]promotion.Target, error) {
	return targets(r.q.TargetsAt(ctx, dbsqlc.TargetsAtParams{Repository: repository, Paths: paths}))
}

func (r reader) TargetsOf(ctx context.Context, applicationID int64) ([]promotion.Target, error) {
	return targets(r.q.TargetsOf(ctx, applicationID))
}

func (r reader) TargetNamed(ctx context.Context, application, environment string) (promotion.Target, error) {
	d, err := r.q.TargetNamed(ctx, dbsqlc.TargetNamedParams{Application: application, Environment: environment})
	return target(d), found(err)
}

func (r reader) Repository(ctx context.Context, name string) (promotion.RepositoryStatus, error) {
	c, err := r.q.RepositoryNamed(ctx, name)
	if err != nil {
		return promotion.RepositoryStatus{}, found(err)
	}
	return repositoryStatus(c)
}

func repositoryStatus(c dbsqlc.ConfigRepository) (promotion.RepositoryStatus, error) {
	status := promotion.RepositoryStatus{Name: c.Name, URL: c.Url, BaseBranch: c.BaseBranch, Head: c.Head, Problem: c.Problem,
		LookedAt: value(c.LookedAt), Unprotected: c.Unprotected, LimitedUntil: value(c.LimitedUntil)}
	if err := json.Unmarshal(c.PolicyFaults, &status.PolicyFaults); err != nil {
		return status, fmt.Errorf("policy faults of %s: %w", c.Name, err)
	}
	if c.EngineFaults == nil {
		return status, nil
	}
	if err := json.Unmarshal(c.EngineFaults, &status.EngineFaults); err != nil {
		return status, fmt.Errorf("engine faults of %s: %w", c.Name, err)
	}
	return status, nil
}

func (r reader) Repositories(ctx context.Context) ([]promotion.RepositoryStatus, error) {
	rows, err := r.q.Repositories(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]promotion.RepositoryStatus, len(rows))
	for i, c := range rows {
		if all[i], err = repositoryStatus(c); err != nil {
			return nil, err
		}
	}
	return all, nil
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
	return revisions(rows)
}

func revisions(rows []dbsqlc.TargetRevision) ([]promotion.TargetRevision, error) {
	all := make([]promotion.TargetRevision, len(rows))
	for i, v := range rows {
		all[i] = promotion.TargetRevision{ID: v.ID, TargetID: v.TargetID, FoundAt: value(v.FoundAt), Imported: v.Imported, RenderedHash: v.RenderedHash,
			ReleaseID: value(v.ReleaseID), PromotionID: value(v.PromotionID),
			Commit: promotion.Commit{SHA: v.Commit, Author: v.Author, Message: v.Message, When: v.CommittedAt}}
		if err := json.Unmarshal(v.Images, &all[i].Images); err != nil {
			return nil, fmt.Errorf("images of revision %s: %w", v.Commit, err)
		}
		if v.Charts == nil {
			continue
		}
		if err := json.Unmarshal(v.Charts, &all[i].Charts); err != nil {
			return nil, fmt.Errorf("charts of revision %s: %w", v.Commit, err)
		}
	}
	return all, nil
}

func (t *tx) SaveRepository(ctx context.Context, r promotion.RepositoryStatus) error {
	faults := r.PolicyFaults
	if faults == nil {
		faults = promotion.PolicyFaults{}
	}
	text, err := json.Marshal(faults)
	if err != nil {
		return err
	}
	var engine []byte
	if r.EngineFaults != nil {
		if engine, err = json.Marshal(r.EngineFaults); err != nil {
			return err
		}
	}
	return t.q.SaveRepository(ctx, dbsqlc.SaveRepositoryParams{Name: r.Name, Url: r.URL, BaseBranch: r.BaseBranch,
		Head: r.Head, Problem: r.Problem, LookedAt: r.LookedAt, PolicyFaults: text, EngineFaults: engine, Unprotected: r.Unprotected})
}

func (t *tx) SaveLimit(ctx context.Context, repository string, until time.Time) error {
	return t.q.SaveLimit(ctx, dbsqlc.SaveLimitParams{Name: repository, Until: until})
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
	// Whoever reads main holds the target's row while it records a commit: it is waited for, or it sees the merge.
	if err := t.q.LockTarget(ctx, targetID); err != nil {
		return err
	}
	return t.q.NameRevisionsPromotion(ctx, dbsqlc.NameRevisionsPromotionParams{TargetID: targetID, Commit: commit, Promotion: promotionID})
}

func (t *tx) ImagesOf(ctx context.Context, applicationID int64) ([]string, error) {
	return t.q.ImagesOf(ctx, applicationID)
}

func (t *tx) ChartsOf(ctx context.Context, applicationID int64) (promotion.ChartsKnown, error) {
	known, err := t.q.ChartsOf(ctx, applicationID)
	return promotion.ChartsKnown(known), err
}

func (t *tx) InsertTargetRevision(ctx context.Context, v promotion.TargetRevision) error {
	images, err := document(v.Images)
	if err != nil {
		return err
	}
	var charts []byte
	if v.Charts != nil {
		if charts, err = document(v.Charts); err != nil {
			return err
		}
	}
	return t.q.InsertTargetRevision(ctx, dbsqlc.InsertTargetRevisionParams{TargetID: v.TargetID, Commit: v.Commit.SHA,
		Author: v.Commit.Author, Message: v.Commit.Message, CommittedAt: v.Commit.When, RenderedHash: v.RenderedHash,
		Images: images, ReleaseID: nullID(v.ReleaseID), PromotionID: nullID(v.PromotionID),
		FoundAt: nullTime(v.FoundAt), Imported: v.Imported, Examined: v.Imported || v.PromotionID != 0, Charts: charts})
}

func (r reader) SeenPullRequests(ctx context.Context, repository string) (map[int]promotion.SeenPullRequest, error) {
	rows, err := r.q.SeenPullRequests(ctx, repository)
	seen := make(map[int]promotion.SeenPullRequest, len(rows))
	for _, s := range rows {
		seen[int(s.Number)] = promotion.SeenPullRequest{Number: int(s.Number), Head: s.Head, Main: s.Main, PolicyID: value(s.PolicyID),
			Ref: s.Ref, Verdict: s.Verdict, SeenAt: s.SeenAt}
	}
	return seen, err
}

func (t *tx) SavePullRequestSeen(ctx context.Context, repository string, p promotion.SeenPullRequest) error {
	return t.q.SavePullRequestSeen(ctx, dbsqlc.SavePullRequestSeenParams{Repository: repository, Number: int32(p.Number), Head: p.Head,
		Main: p.Main, PolicyID: nullID(p.PolicyID), Ref: p.Ref, Verdict: p.Verdict, SeenAt: p.SeenAt})
}

func (t *tx) ClaimDelivery(ctx context.Context, host, delivery string, at, forget time.Time) (bool, error) {
	if err := t.q.ForgetDeliveries(ctx, forget); err != nil {
		return false, err
	}
	n, err := t.q.ClaimDelivery(ctx, dbsqlc.ClaimDeliveryParams{Host: host, Delivery: delivery, ReceivedAt: at})
	return n > 0, err
}

func (t *tx) OfPullRequest(ctx context.Context, repository string, number int) ([]int64, error) {
	return t.q.OfPullRequest(ctx, dbsqlc.OfPullRequestParams{Repository: repository, Number: int32(number)})
}

func (t *tx) ForgetPullRequest(ctx context.Context, repository string, number int) error {
	return t.q.ForgetPullRequest(ctx, dbsqlc.ForgetPullRequestParams{Repository: repository, Number: int32(number)})
}
