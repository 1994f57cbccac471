package httpapi_test

import (
	"context"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/rollback"
)

func (s *stub) PostEvidence(_ context.Context, by promotion.Actor, r promotion.EvidenceRequest) (promotion.Evidence, error) {
	_, err := s.use(by, r)
	return sampleEvidence(), err
}

func (s *stub) RejectRelease(_ context.Context, by promotion.Actor, id int64, reason string) (promotion.Release, error) {
	_, err := s.use(by, []any{"reject", id, reason})
	return sampleRejected(), err
}

func (s *stub) ReopenRelease(_ context.Context, by promotion.Actor, id int64, reason string) (promotion.Release, error) {
	_, err := s.use(by, []any{"reopen", id, reason})
	return sampleRelease(), err
}

func (s *stub) ClearRollback(_ context.Context, by promotion.Actor, id int64, reason string) (promotion.Release, error) {
	_, err := s.use(by, []any{"clear rollback", id, reason})
	return sampleRelease(), err
}

func (s *stub) Plan(_ context.Context, r promotion.PlanRequest) (promotion.Plan, error) {
	s.asked = r
	return s.plan, s.err
}

func (s *stub) PlanRestore(_ context.Context, r promotion.RestoreRequest) (promotion.RestorePlan, error) {
	s.asked = r
	return promotion.RestorePlan{Target: sampleMerged().Target, Release: sampleRelease(), Others: []promotion.Target{sampleChange().Target},
		Change: promotion.Change{
			Files:   map[string][]byte{"apps/web/overlays/prod/secret.yaml": []byte("hunter2"), "apps/web/base/web.yaml": nil},
			Deletes: []string{"apps/web/overlays/prod/new.yaml"}, Added: []string{"ConfigMap/web/old"},
			Removed: []promotion.RemovedObject{{Object: "PersistentVolumeClaim/web/data", Stateful: true}},
			Notes:   []string{"Secret/web/db stays as it is today"}, Diff: "replicas: 3 → 2\n"}}, s.err
}

func (s *stub) PlanRollback(ctx context.Context, r promotion.GoBackRequest) (promotion.RestorePlan, error) {
	plan, err := s.PlanRestore(ctx, promotion.RestoreRequest{})
	s.asked = r
	return plan, err
}

func (s *stub) PlanAdopt(ctx context.Context, r promotion.AdoptRequest) (promotion.AdoptPlan, error) {
	restored, err := s.PlanRestore(ctx, promotion.RestoreRequest{})
	s.asked = r
	plan := promotion.AdoptPlan{RestorePlan: restored, SelfHeal: true}
	plan.Cause = "1.4.1 runs, an earlier release"
	return plan, err
}

func (s *stub) Adopt(_ context.Context, by promotion.Actor, r promotion.AdoptRequest) (promotion.Promotion, error) {
	return s.use(by, r)
}

func (s *stub) StartRollback(_ context.Context, by promotion.Actor, r promotion.GoBackRequest) (promotion.Promotion, error) {
	return s.use(by, r)
}

func (s *stub) Restore(_ context.Context, by promotion.Actor, r promotion.RestoreRequest) (promotion.Promotion, error) {
	return s.use(by, r)
}

func (s *stub) Windows(_ context.Context, from, to time.Time) ([]promotion.TargetWindows, error) {
	s.asked = []any{from, to}
	hours := func(from, to int, by, reason string) promotion.Interval {
		return promotion.Interval{From: noon.Add(time.Duration(from) * time.Hour), To: noon.Add(time.Duration(to) * time.Hour), By: by, Reason: reason}
	}
	return []promotion.TargetWindows{
		{Target: sampleRequested().Target, Now: promotion.WindowDecision{Open: true, Reason: "no window is set"},
			Open: []promotion.Interval{hours(0, 5, "", "no window is set")}},
		{Target: sampleMerged().Target, Now: promotion.WindowDecision{By: "freeze 2", Reason: "frozen by rita: fair", Next: noon.Add(time.Hour)},
			Open:   []promotion.Interval{hours(1, 5, "office hours", "it is a weekday")},
			Closed: []promotion.Interval{hours(0, 1, "freeze 2", "frozen by rita: fair")},
			Beside: []promotion.DeploymentWindows{{Deployment: promotion.DeploymentKey{Cluster: "eu-1", Namespace: "argocd", Name: "web-prod"}, Project: "shop",
				Now: promotion.WindowDecision{Open: true, Reason: "no deny window is active"}, Differs: []promotion.Interval{hours(0, 1, "", "the policy is closed")}},
				{Deployment: promotion.DeploymentKey{Cluster: "us-1", Namespace: "argocd", Name: "web-prod"}, Project: "shop", Problem: "it does not answer"}}},
	}, s.err
}

func (s *stub) PlanFreeze(_ context.Context, z promotion.Freeze) ([]promotion.Target, error) {
	s.asked = z
	return []promotion.Target{sampleMerged().Target}, s.err
}

func (s *stub) Freeze(_ context.Context, by promotion.Actor, z promotion.Freeze) (promotion.Freeze, error) {
	_, err := s.use(by, z)
	return sampleFreeze(), err
}

func (s *stub) Thaw(_ context.Context, by promotion.Actor, id int64) error {
	_, err := s.use(by, []any{"thaw", id})
	return err
}

func (s *stub) Hold(_ context.Context, by promotion.Actor, r promotion.HoldRequest) error {
	_, err := s.use(by, []any{"hold", r})
	return err
}

func (s *stub) Resume(_ context.Context, by promotion.Actor, r promotion.HoldRequest) error {
	_, err := s.use(by, []any{"resume", r})
	return err
}

func (s *stub) Waive(_ context.Context, by promotion.Actor, r promotion.WaiveRequest) error {
	_, err := s.use(by, r)
	return err
}

func (s *stub) Owed(_ context.Context, targetID int64) ([]promotion.Owed, error) {
	if targetID != 0 {
		panic("what is owed to all is asked for")
	}
	return []promotion.Owed{
		{Target: sampleRequested().Target, Release: sampleRequested().Release, PromotionID: 12, LiveIn: "prod", Since: noon},
		{Target: promotion.Target{Application: "api", Environment: "dev"}, Release: sampleRequested().Release, PromotionID: 9, LiveIn: "prod", Since: noon},
	}, s.err
}

func (s *stub) Override(_ context.Context, by promotion.Actor, r promotion.OverrideRequest) (promotion.Override, error) {
	_, err := s.use(by, r)
	return sampleOverride(), err
}

func (s *stub) ReviewOverride(_ context.Context, by promotion.Actor, id int64, review string) error {
	_, err := s.use(by, []any{"review override", id, review})
	return err
}

func (s *stub) TryAgain(_ context.Context, by promotion.Actor, delivery string) error {
	_, err := s.use(by, []any{"try again", delivery})
	return err
}

func (s *stub) CloseViolation(_ context.Context, by promotion.Actor, id int64, review string) error {
	_, err := s.use(by, []any{"close violation", id, review})
	return err
}

func (s *stub) EvidenceFor(_ context.Context, releaseID int64) ([]promotion.Evidence, error) {
	scan := promotion.Evidence{ID: 7, ReleaseID: releaseID, Name: "image-scan", Source: "scanner", Verdict: "fail", PostedBy: "ci", PostedAt: noon}
	return []promotion.Evidence{sampleEvidence(), scan}, nil
}

func (s *stub) Freezes(_ context.Context, at time.Time) ([]promotion.Freeze, error) {
	s.asked = at
	everywhere := promotion.Freeze{ID: 3, Kind: promotion.KindWindow, Reason: "fire", Owner: "ops", StartsAt: noon, EndsAt: noon.Add(time.Hour),
		CreatedBy: "rita", CreatedAt: noon}
	return []promotion.Freeze{everywhere, sampleFreeze()}, s.err
}

func (s *stub) HoldsOf(_ context.Context, targetID int64) ([]promotion.Hold, error) {
	if targetID != 0 {
		panic("the holds of all are asked for")
	}
	return []promotion.Hold{
		{ID: 5, Target: sampleRequested().Target, Reason: "load test", HeldBy: "ada", HeldAt: noon},
		{ID: 4, Target: sampleMerged().Target, Reason: "back to 1.4.1", HeldBy: "rita", HeldAt: noon},
		{ID: 3, Reason: "fire", HeldBy: "rita", HeldAt: noon},
	}, nil
}

func (s *stub) Overrides(_ context.Context, at time.Time) ([]promotion.Override, error) {
	s.asked = at
	reviewed := sampleOverride()
	reviewed.ID, reviewed.ReviewedBy, reviewed.ReviewedAt, reviewed.Review = 1, "ada", noon.Add(time.Hour), "it was right"
	return []promotion.Override{sampleOverride(), reviewed}, s.err
}

func (s *stub) Violations(_ context.Context, open bool, limit int) ([]promotion.Violation, error) {
	s.asked = []any{open, limit}
	target := sampleMerged().Target
	return []promotion.Violation{
		{ID: 2, Target: target, Kind: promotion.ViolationPushed, Actor: "mallory", Message: "pushed to main", Subject: commit, FoundAt: noon},
		{ID: 1, Target: target, PromotionID: 12, Kind: promotion.ViolationMerged, Actor: "rita", Message: "merged while closed", Subject: merge,
			FoundAt: noon, ClosedBy: "ada", ClosedAt: noon.Add(time.Hour), Review: "it was urgent"},
	}, s.err
}

func (s *stub) TargetNamed(_ context.Context, application, environment string) (promotion.Target, error) {
	s.asked = []any{application, environment}
	return sampleMerged().Target, s.err
}

func (s *stub) RevisionsOf(_ context.Context, targetID int64, limit int) ([]promotion.TargetRevision, error) {
	s.asked = []any{targetID, limit}
	return []promotion.TargetRevision{
		{ID: 2, TargetID: 6, FoundAt: noon, ReleaseID: 3, PromotionID: 12,
			Commit: promotion.Commit{SHA: merge, Author: "Rita <rita@sluice.test>", Message: "web 1.4.2 to prod\n", When: noon},
			Images: []promotion.RenderedImage{{Object: "Deployment/web", Container: "web", Name: "r.test/web", Reference: "r.test/web@" + digest}}},
		{ID: 1, TargetID: 6, FoundAt: noon, Imported: true,
			Commit: promotion.Commit{SHA: commit, Author: "Ada <ada@sluice.test>", Message: "start", When: noon.Add(-time.Hour)}},
	}, nil
}

func (s *stub) Repositories(context.Context) ([]promotion.RepositoryStatus, error) {
	return []promotion.RepositoryStatus{
		{Name: "config", URL: "https://git.test/config", BaseBranch: "main", Head: merge, LookedAt: noon, PolicyFaults: promotion.PolicyFaults{
			{File: "sluice.yaml", Line: 3, Code: "unknown-key", Message: "soke is not known: do you mean soak?"},
			{File: "apps/web/sluice.yaml", Code: "not-yaml", Message: "it is no YAML"}},
			EngineFaults: []promotion.EngineFault{{File: "argocd/web.yaml", Line: 7, Message: "the generator clusters of ApplicationSet web: the clusters are not known"}}},
		{Name: "infra", URL: "https://git.test/infra", BaseBranch: "main", LookedAt: noon, Problem: "it cannot be reached"},
	}, s.err
}

func (s *stub) PolicyInForce(_ context.Context, repository string) (promotion.PolicyInForce, error) {
	if repository == "infra" {
		return promotion.PolicyInForce{}, promotion.ErrNotFound
	}
	return promotion.PolicyInForce{ID: 1, Commit: commit, Since: noon}, nil
}

func (s *stub) Changes(_ context.Context, repository string, number int) ([]promotion.Promotion, error) {
	if repository != "config" || number != 4 {
		panic("another pull request is asked for")
	}
	return []promotion.Promotion{sampleChange()}, nil
}

func (s *stub) CheckRollback(_ context.Context, r promotion.RollbackRequest) (promotion.RollbackCheck, error) {
	s.asked = r
	v := sampleVerdict()
	return promotion.RollbackCheck{Target: v.Target, Current: v.Current, At: noon,
		Candidates: []promotion.RollbackCandidate{
			{Release: v.Candidate, Images: v, WithConfig: v, Undo: promotion.Undoing{Promotion: 12, Verdict: v}},
			{Release: v.Candidate, Images: v, WithConfig: v, Undo: promotion.Undoing{Promotion: 11, Problem: "promotion 11 cannot be reverted: kustomization.yaml:8 was changed since"}}}}, s.err
}

func (s *stub) RollbackVerdict(_ context.Context, id int64) (promotion.RollbackVerdict, error) {
	s.asked = id
	return sampleVerdict(), s.err
}

func (s *stub) AcceptUnknown(_ context.Context, by promotion.Actor, r promotion.AcceptRequest) (promotion.Promotion, error) {
	return s.use(by, r)
}

func sampleAttestation() promotion.Attestation {
	return promotion.Attestation{ID: 3, From: 3, To: 2, FromVersion: "1.4.2", ToVersion: "1.4.1", Subject: promotion.SubjectMessages,
		Verdict: promotion.AttestedCompatible, Reason: "same schema", By: "ada", At: noon, ExpiresAt: noon.Add(time.Hour)}
}

func (s *stub) Attest(_ context.Context, by promotion.Actor, r promotion.AttestRequest) (promotion.Attestation, error) {
	_, err := s.use(by, r)
	return sampleAttestation(), err
}

func (s *stub) Attestations(_ context.Context, application string, limit int) ([]promotion.Attestation, error) {
	s.asked = []any{application, limit}
	posted := promotion.Attestation{ID: 1, BuildID: 7, From: 3, FromVersion: "1.4.2", Subject: promotion.SubjectCaches, Verdict: promotion.AttestedCompatible,
		Since: "1.4.0", By: "ci", At: noon}
	return []promotion.Attestation{sampleAttestation(), posted}, s.err
}

func sampleVerdict() promotion.RollbackVerdict {
	facts := rollback.Facts{Artifact: rollback.Artifact{ImageManifest: rollback.Absent}}
	return promotion.RollbackVerdict{ID: 7, Target: sampleMerged().Target, Current: sampleRelease(), Candidate: sampleRejected(), Way: promotion.ImagesOnly,
		Facts: facts, Verdict: rollback.Evaluate(facts), Notes: []string{"gone"}, EvaluatedAt: noon, ConfirmedAt: noon}
}

func sampleSyncPause() promotion.SyncPause {
	return promotion.SyncPause{ID: 4, Target: sampleRequested().Target, Owner: "ada", Reason: "INC-77", PausedBy: "rita", PausedAt: noon.Add(-2 * time.Hour), ExpiresAt: noon}
}

func (s *stub) PauseSync(_ context.Context, by promotion.Actor, r promotion.SyncPauseRequest) (promotion.SyncPause, error) {
	_, err := s.use(by, r)
	return sampleSyncPause(), err
}

func (s *stub) ResumeSync(_ context.Context, by promotion.Actor, application, environment string) error {
	_, err := s.use(by, []any{"resume sync", application, environment})
	return err
}

func (s *stub) SyncPauses(context.Context, int64) ([]promotion.SyncPause, error) {
	return []promotion.SyncPause{sampleSyncPause()}, nil
}

func (s *stub) Notifications(_ context.Context, f promotion.NotificationFilter) ([]promotion.NotificationEntry, error) {
	s.asked = f
	return []promotion.NotificationEntry{{ID: 5, Notification: promotion.Notification{Kind: promotion.NotifyViolation, Object: "violation/web/prod/pushed/abc", At: noon,
		Application: "web", Environment: "prod", PromotionID: 12, Actor: "mallory", Message: "pushed to main", Page: "/violations"},
		Deliveries: []promotion.Delivery{{ID: "d-1", Destination: "chat", Attempts: 2, TriedAt: noon, Problem: "it answered 500"},
			{ID: "d-2", Destination: "pager", Attempts: 1, TriedAt: noon, DeliveredAt: noon}, {ID: "d-3", Destination: "mail"}}}}, nil
}

func (s *stub) DriftPage(_ context.Context, f promotion.DriftFilter) ([]promotion.Drift, error) {
	s.asked = f
	return []promotion.Drift{{ID: 9, Target: sampleRequested().Target, Deployment: promotion.DeploymentKey{Cluster: "eu", Namespace: "argocd", Name: "web-dev"},
		Object: "Deployment.apps web/web", Path: "spec.replicas", Want: "2", Have: "5", Class: promotion.DriftHuman, Owner: "kubectl scale", FirstSeen: noon, LastSeen: noon, Times: 1,
		Written: []promotion.LiveWrite{{Verb: "patch", User: "ada", Agent: "kubectl/v1.36.0", Source: "10.0.0.7", At: noon}}}}, nil
}

func (s *stub) DriftLooks(context.Context, int64) ([]promotion.DriftLook, error) {
	return []promotion.DriftLook{{Target: sampleRequested().Target, Deployment: promotion.DeploymentKey{Cluster: "eu", Namespace: "argocd", Name: "web-dev"},
		LookedAt: noon, Revision: "abc", Problem: "the cluster does not answer", ProblemSince: noon}}, nil
}

func (s *stub) Targets(context.Context) ([]promotion.Target, error) {
	return []promotion.Target{sampleRequested().Target}, nil
}
