package web_test

import (
	"context"
	"slices"
	"sync"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/web"
)

// stub stands in for the domain and its store: it answers with
// samples, or with err where that is set, and remembers what it was asked to do.
type stub struct {
	promotion.Reader // nil: what is not below must not be asked
	sync.Mutex

	rows       []promotion.BoardRow
	promotions []promotion.Promotion
	gates      []promotion.GateResult
	approvals  []promotion.Approval
	events     []promotion.AuditEvent
	releases   []promotion.Release
	links      []promotion.Link
	history    []promotion.HistoryEntry
	pull       web.PullRequest
	holds      []promotion.Hold
	pauses     []promotion.SyncPause
	overrides  []promotion.Override
	owed       []promotion.Owed
	violations []promotion.Violation
	drifts     []promotion.Drift
	driftLooks []promotion.DriftLook
	overdue    []promotion.Overdue
	attested   []promotion.Attestation
	deliveries []promotion.Delivery
	freezes    []promotion.Freeze
	windows    []promotion.TargetWindows
	evidence   []promotion.Evidence
	revisions  []promotion.TargetRevision
	changes    []promotion.Promotion
	restored   promotion.RestorePlan
	planned    promotion.Plan
	faults     promotion.PolicyFaults
	engine     []promotion.EngineFault
	branches   []string
	back       promotion.RollbackCheck
	accepted   []promotion.Acceptance

	pushed  []string // repositories and refs
	planErr error    // of what only looks ahead
	err     error    // of the use cases
	by      promotion.Actor
	asked   any
}

func newStub() *stub {
	return &stub{rows: sampleBoard(), promotions: samplePromotions(), gates: sampleGates(), approvals: sampleApprovals(),
		events: sampleEvents(), releases: sampleReleases(), links: sampleLinks(), history: sampleHistory(), pull: samplePullRequest(),
		freezes: sampleFreezes(), windows: sampleWindows(), evidence: sampleEvidence(), attested: sampleAttestations(), revisions: sampleRevisions(), restored: sampleRestorePlan(),
		planned: samplePlan(), back: sampleRollback(), branches: []string{"more-memory", "raise-limits"}}
}

func (s *stub) did(by promotion.Actor, asked any) (promotion.Promotion, error) {
	s.by, s.asked = by, asked
	return s.promotions[0], s.err
}

func (s *stub) Promote(_ context.Context, by promotion.Actor, r promotion.PromoteRequest) (promotion.Promotion, error) {
	return s.did(by, r)
}

func (s *stub) Decide(_ context.Context, by promotion.Actor, r promotion.DecideRequest) (promotion.Promotion, error) {
	return s.did(by, r)
}

func (s *stub) Merge(_ context.Context, by promotion.Actor, id int64) (promotion.Promotion, error) {
	return s.did(by, []any{"merge", id})
}

func (s *stub) MergeWhenPassing(_ context.Context, by promotion.Actor, id int64, rendered string) (promotion.Promotion, error) {
	return s.did(by, []any{"merge when passing", id, rendered})
}

func (s *stub) WithdrawMergeWhenPassing(_ context.Context, by promotion.Actor, id int64) (promotion.Promotion, error) {
	return s.did(by, []any{"withdraw merge", id})
}

func (s *stub) Sync(_ context.Context, by promotion.Actor, id int64) (promotion.Promotion, error) {
	return s.did(by, []any{"sync", id})
}

func (s *stub) Retry(_ context.Context, by promotion.Actor, id int64) (promotion.Promotion, error) {
	return s.did(by, []any{"retry", id})
}

func (s *stub) Cancel(_ context.Context, by promotion.Actor, id int64, reason string) (promotion.Promotion, error) {
	return s.did(by, []any{"cancel", id, reason})
}

func (s *stub) ReleaseMigrations(_ context.Context, r promotion.Release) (promotion.ReleaseMigrations, error) {
	if r.BuildID == 0 {
		return promotion.ReleaseMigrations{}, nil
	}
	return sampleMigrations(), nil
}

func (s *stub) Chain(context.Context, int64) ([]promotion.Link, error) { return s.links, nil }

func (s *stub) Board(context.Context) ([]promotion.BoardRow, error) {
	s.Lock()
	defer s.Unlock()
	return s.rows, nil
}

func (s *stub) Promotion(_ context.Context, id int64) (promotion.Promotion, error) {
	i := slices.IndexFunc(s.promotions, func(p promotion.Promotion) bool { return p.ID == id })
	if i < 0 {
		return promotion.Promotion{}, promotion.ErrNotFound
	}
	return s.promotions[i], nil
}

func (s *stub) Promotions(context.Context, promotion.PromotionFilter) ([]promotion.Promotion, error) {
	return s.promotions, nil
}

func (s *stub) Gates(context.Context, int64) ([]promotion.GateResult, error) { return s.gates, nil }

func (s *stub) Approvals(context.Context, int64) ([]promotion.Approval, error) {
	return s.approvals, nil
}

func (s *stub) AuditEvents(_ context.Context, f promotion.AuditFilter) ([]promotion.AuditEvent, error) {
	s.asked = f
	return s.events[:min(f.Limit, len(s.events))], nil
}

func (s *stub) Releases(_ context.Context, application string, _ int64, _ int) ([]promotion.Release, error) {
	return slices.DeleteFunc(slices.Clone(s.releases), func(r promotion.Release) bool { return r.Application != application }), nil
}

func (s *stub) Release(_ context.Context, id int64) (promotion.Release, error) {
	i := slices.IndexFunc(s.releases, func(r promotion.Release) bool { return r.ID == id })
	if i < 0 {
		return promotion.Release{}, promotion.ErrNotFound
	}
	return s.releases[i], nil
}

func (s *stub) ReleaseVersion(_ context.Context, application, version string) (promotion.Release, error) {
	i := slices.IndexFunc(s.releases, func(r promotion.Release) bool { return r.Application == application && r.Version == version })
	if i < 0 {
		return promotion.Release{}, promotion.ErrNotFound
	}
	return s.releases[i], nil
}

func (s *stub) VerifiedOn(_ context.Context, releaseID int64, targetIDs []int64) (map[int64]int64, error) {
	verified := map[int64]int64{}
	for _, p := range s.promotions {
		if p.State() == promotion.StateVerified && p.Release.ID == releaseID && slices.Contains(targetIDs, p.Target.ID) {
			verified[p.Target.ID] = p.ID
		}
	}
	return verified, nil
}

func (s *stub) BuildByID(context.Context, int64) (promotion.Build, error) { return sampleBuild(), nil }

func (s *stub) Deployments(_ context.Context, application, environment string) ([]promotion.Deployment, error) {
	var all []promotion.Deployment
	for _, row := range s.rows {
		for _, cell := range row.Cells {
			if (application == "" || row.Application == application) && (environment == "" || cell.Target.Environment == environment) {
				all = append(all, cell.Deployments...)
			}
		}
	}
	if application == "" {
		all = append(all, strayDeployment())
	}
	return all, nil
}

func (s *stub) Targets(context.Context) ([]promotion.Target, error) {
	var all []promotion.Target
	for _, row := range s.rows {
		for _, cell := range row.Cells {
			all = append(all, cell.Target)
		}
	}
	return all, nil
}

func (s *stub) History(_ context.Context, f promotion.HistoryFilter) ([]promotion.HistoryEntry, error) {
	s.asked = f
	return s.history[:min(f.Limit, len(s.history))], nil
}

func (s *stub) Repositories(context.Context) ([]promotion.RepositoryStatus, error) {
	return []promotion.RepositoryStatus{
		{Name: "platform-config", URL: "https://git.example.com/platform/config", BaseBranch: "main", Head: mergeSHA, LookedAt: before(8), PolicyFaults: s.faults, EngineFaults: s.engine},
		{Name: "legacy", URL: "https://git.example.com/legacy/config", BaseBranch: "main", LookedAt: before(95), LimitedUntil: before(-5),
			Problem: "fetch https://git.example.com/legacy/config: authentication failed; check the deploy key"}}, nil
}
