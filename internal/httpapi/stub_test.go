package httpapi_test

import (
	"context"
	"strings"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

var (
	noon   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("UTC+2", 2*3600))
	digest = "sha256:" + strings.Repeat("ab", 32)
	commit = strings.Repeat("c0", 20)
	merge  = strings.Repeat("d1", 20)
)

// stub stands in for the domain: it remembers what it was asked and answers
// with samples, or with err when that is set.
type stub struct {
	promotion.Store // nil: what is not below must not be asked
	err             error
	created         bool
	plan            promotion.Plan
	promotions      []promotion.Promotion

	by    promotion.Actor
	asked any
}

func newStub() *stub {
	return &stub{created: true, plan: samplePlan(), promotions: []promotion.Promotion{sampleChange(), sampleMerged(), sampleRequested()}}
}

func (s *stub) use(by promotion.Actor, asked any) (promotion.Promotion, error) {
	s.by, s.asked = by, asked
	return sampleMerged(), s.err
}

func (s *stub) RecordBuild(_ context.Context, by promotion.Actor, r promotion.BuildRequest) (promotion.BuildOutcome, bool, error) {
	_, err := s.use(by, r)
	return sampleOutcome(), s.created, err
}

func (s *stub) Promote(_ context.Context, by promotion.Actor, r promotion.PromoteRequest) (promotion.Promotion, error) {
	return s.use(by, r)
}

func (s *stub) Decide(_ context.Context, by promotion.Actor, r promotion.DecideRequest) (promotion.Promotion, error) {
	return s.use(by, r)
}

func (s *stub) Merge(_ context.Context, by promotion.Actor, id int64) (promotion.Promotion, error) {
	return s.use(by, []any{"merge", id})
}

func (s *stub) MergeWhenPassing(_ context.Context, by promotion.Actor, id int64, rendered string) (promotion.Promotion, error) {
	return s.use(by, []any{"merge when passing", id, rendered})
}

func (s *stub) WithdrawMergeWhenPassing(_ context.Context, by promotion.Actor, id int64) (promotion.Promotion, error) {
	return s.use(by, []any{"withdraw merge", id})
}

func (s *stub) Sync(_ context.Context, by promotion.Actor, id int64) (promotion.Promotion, error) {
	return s.use(by, []any{"sync", id})
}

func (s *stub) Retry(_ context.Context, by promotion.Actor, id int64) (promotion.Promotion, error) {
	return s.use(by, []any{"retry", id})
}

func (s *stub) Cancel(_ context.Context, by promotion.Actor, id int64, reason string) (promotion.Promotion, error) {
	return s.use(by, []any{"cancel", id, reason})
}

func (s *stub) Chain(_ context.Context, id int64) ([]promotion.Link, error) {
	s.asked = id
	return []promotion.Link{
		{Name: "source commit → build", Verified: true, Expected: commit, Found: commit, Proof: "said by ci", At: noon},
		{Name: "release → registry", Environment: "prod", Expected: digest, Proof: "the registry was not asked"},
	}, s.err
}

func (s *stub) Build(_ context.Context, id int64) (promotion.BuildOutcome, error) {
	s.asked = id
	return sampleOutcome(), s.err
}

func (s *stub) Release(_ context.Context, id int64) (promotion.Release, error) {
	s.asked = id
	return sampleRelease(), s.err
}

func (s *stub) Releases(_ context.Context, application string, before int64, limit int) ([]promotion.Release, error) {
	s.asked = []any{application, before, limit}
	return []promotion.Release{sampleRelease(), sampleImport()}, s.err
}

func (s *stub) Promotion(_ context.Context, id int64) (promotion.Promotion, error) {
	s.asked = id
	return sampleMerged(), s.err
}

func (s *stub) Promotions(_ context.Context, f promotion.PromotionFilter) ([]promotion.Promotion, error) {
	s.asked = f
	var page []promotion.Promotion
	for _, p := range s.promotions {
		if (f.Before == 0 || p.ID < f.Before) && len(page) < f.Limit {
			page = append(page, p)
		}
	}
	return page, s.err
}

func (s *stub) Gates(context.Context, int64) ([]promotion.GateResult, error) {
	return sampleGates(), nil
}

func (s *stub) Approvals(context.Context, int64) ([]promotion.Approval, error) {
	return []promotion.Approval{{ID: 1, PromotionID: 12, Actor: "ada", Roles: []promotion.Role{promotion.RoleApprover}, Decision: "approve",
		Comment: "read", RenderedHash: "f00d", DecidedAt: noon}}, nil
}

func (s *stub) Deployments(_ context.Context, application, environment string) ([]promotion.Deployment, error) {
	s.asked = []any{application, environment}
	unknown := promotion.Deployment{ID: 2, Application: "web", Environment: "prod", Since: noon}
	unknown.Key = promotion.DeploymentKey{Cluster: "us", Namespace: "argocd", Name: "web-prod"}
	unknown.Sync, unknown.Health, unknown.ObservedAt = promotion.SyncUnknown, promotion.HealthUnknown, noon
	return []promotion.Deployment{sampleDeployment(), unknown}, s.err
}

func (s *stub) Board(context.Context) ([]promotion.BoardRow, error) {
	release, open := sampleRelease(), sampleMerged()
	target := open.Target
	bare := promotion.Target{ID: 5, Environment: "dev", Rank: 10, Repository: "config", Path: "apps/web/overlays/dev", Layout: "kustomize",
		RenderProblem: "no kustomization.yaml"}
	return []promotion.BoardRow{
		{Application: "web", Cells: []promotion.BoardCell{{Target: bare},
			{Target: target, Deployments: []promotion.Deployment{sampleDeployment()}, Open: &open, Desired: &release, DesiredSHA: merge}}},
		{Application: "order-service"},
	}, s.err
}

func (s *stub) History(_ context.Context, f promotion.HistoryFilter) ([]promotion.HistoryEntry, error) {
	s.asked = f
	e := promotion.HistoryEntry{ID: 9, Application: "web", Environment: "prod", Cluster: "eu", ReleaseID: 3, Number: 2, Version: "1.4.2",
		Sync: promotion.Synced, Health: promotion.Healthy, Revision: merge, Images: []string{"r.test/web@" + digest},
		ImageIDs: []string{"r.test/web@" + digest}, From: noon, PromotionID: 12, RequestedBy: "rita", ApprovedBy: []string{"ada"}, MergedBy: "rita"}
	old := promotion.HistoryEntry{ID: 8, Application: "web", Environment: "prod", Cluster: "eu", Sync: promotion.OutOfSync,
		Health: promotion.Degraded, Message: "1 of 2 pods crash", From: noon.Add(-time.Hour), To: noon}
	return []promotion.HistoryEntry{e, old}, s.err
}

func (s *stub) AuditEvents(_ context.Context, f promotion.AuditFilter) ([]promotion.AuditEvent, error) {
	s.asked = f
	return []promotion.AuditEvent{{ID: 4, At: noon, Actor: promotion.Sluice(), Action: "promotion.merged", Object: "promotion/12",
		Application: "web", Environment: "prod", ReleaseID: 3, PromotionID: 12, Message: "merged", Before: map[string]any{"state": "open"},
		After: map[string]any{"state": "merged"}, RequestID: "r-1", SourceAddress: "192.0.2.7"}}, s.err
}

func (s *stub) ReleaseMigrations(_ context.Context, r promotion.Release) (promotion.ReleaseMigrations, error) {
	if r.BuildID == 0 {
		return promotion.ReleaseMigrations{}, s.err
	}
	return promotion.ReleaseMigrations{Tool: "plain", Since: "1.4.1", Files: []promotion.MigrationFile{
		{Name: "0045_tracking.sql", SHA256: strings.Repeat("4", 64)}, {Name: "0046_note.sql", SHA256: strings.Repeat("5", 64)}},
		New: []promotion.JudgedMigration{{File: "0046_note.sql", SHA256: strings.Repeat("5", 64), Release: "1.4.2", Verdict: "breaking", Reversible: "no",
			Statements: []promotion.JudgedStatement{{Line: 3, Kind: "ALTER TABLE", Verdict: "breaking", Reversible: "no", Reason: "drop-column",
				Text: "drops a column that the old version uses"}}}}}, s.err
}
