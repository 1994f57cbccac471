package web_test

import (
	"context"
	"slices"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

func (s *stub) only(by promotion.Actor, asked any) error {
	_, err := s.did(by, asked)
	return err
}

func (s *stub) Plan(_ context.Context, r promotion.PlanRequest) (promotion.Plan, error) {
	s.asked = r
	p := s.planned
	p.At = r.At
	if p.At.IsZero() {
		p.At = noon
	}
	return p, s.planErr
}

func (s *stub) WindowZones(context.Context) ([]string, error) { return []string{"Europe/Berlin"}, nil }

func (s *stub) Windows(_ context.Context, from, to time.Time) ([]promotion.TargetWindows, error) {
	s.asked = []any{"windows", from, to}
	return s.windows, s.planErr
}

func (s *stub) Standing(_ context.Context, t promotion.Target, _ []promotion.Deployment) (promotion.Standing, error) {
	if t.Environment == "prod-us" {
		return promotion.Standing{Held: true}, nil
	}
	return promotion.Standing{Lacking: []string{"the status sluice/gates is not pinned to who sets it"}}, nil
}

func (s *stub) ProjectWindows(_ context.Context, t promotion.Target, _, _ time.Time) ([]promotion.DeploymentWindows, error) {
	for _, w := range s.windows {
		if w.Target.ID == t.ID {
			return w.Beside, nil
		}
	}
	return nil, nil
}

func (s *stub) PlanFreeze(_ context.Context, z promotion.Freeze) ([]promotion.Target, error) {
	s.asked = z
	return []promotion.Target{target(3, "checkout", "prod-eu", 50), target(6, "search", "prod-eu", 50), target(4, "checkout", "prod-us", 50)}, s.planErr
}

func (s *stub) Freeze(_ context.Context, by promotion.Actor, z promotion.Freeze) (promotion.Freeze, error) {
	return z, s.only(by, []any{"freeze", z})
}

func (s *stub) Thaw(_ context.Context, by promotion.Actor, id int64) error {
	return s.only(by, []any{"thaw", id})
}

func (s *stub) Hold(_ context.Context, by promotion.Actor, r promotion.HoldRequest) error {
	return s.only(by, []any{"hold", r})
}

func (s *stub) Resume(_ context.Context, by promotion.Actor, r promotion.HoldRequest) error {
	return s.only(by, []any{"resume", r})
}

func (s *stub) Waive(_ context.Context, by promotion.Actor, r promotion.WaiveRequest) error {
	return s.only(by, r)
}

func (s *stub) Owed(_ context.Context, targetID int64) ([]promotion.Owed, error) {
	return slices.DeleteFunc(slices.Clone(s.owed), func(o promotion.Owed) bool { return targetID != 0 && o.Target.ID != targetID }), nil
}

func (s *stub) Override(_ context.Context, by promotion.Actor, r promotion.OverrideRequest) (promotion.Override, error) {
	return promotion.Override{ID: 1}, s.only(by, r)
}

func (s *stub) ReviewOverride(_ context.Context, by promotion.Actor, id int64, review string) error {
	return s.only(by, []any{"review override", id, review})
}

func (s *stub) TryAgain(_ context.Context, by promotion.Actor, delivery string) error {
	return s.only(by, []any{"try again", delivery})
}

func (s *stub) CloseViolation(_ context.Context, by promotion.Actor, id int64, review string) error {
	return s.only(by, []any{"close violation", id, review})
}

func (s *stub) PlanRestore(_ context.Context, r promotion.RestoreRequest) (promotion.RestorePlan, error) {
	s.asked = r
	return s.restored, s.planErr
}

func (s *stub) Restore(_ context.Context, by promotion.Actor, r promotion.RestoreRequest) (promotion.Promotion, error) {
	return s.did(by, []any{"restore", r})
}

func (s *stub) RejectRelease(_ context.Context, by promotion.Actor, id int64, reason string) (promotion.Release, error) {
	return s.releases[0], s.only(by, []any{"reject", id, reason})
}

func (s *stub) ReopenRelease(_ context.Context, by promotion.Actor, id int64, reason string) (promotion.Release, error) {
	return s.releases[0], s.only(by, []any{"reopen", id, reason})
}

func (s *stub) ClearRollback(_ context.Context, by promotion.Actor, id int64, reason string) (promotion.Release, error) {
	return s.releases[0], s.only(by, []any{"clear rollback", id, reason})
}

func (s *stub) Pushed(_ context.Context, repository string, refs []string) error {
	s.pushed = append(s.pushed, repository+" "+refs[0])
	return nil
}

func (s *stub) TargetNamed(ctx context.Context, application, environment string) (promotion.Target, error) {
	targets, err := s.Targets(ctx)
	i := slices.IndexFunc(targets, func(t promotion.Target) bool { return t.Application == application && t.Environment == environment })
	if err != nil || i < 0 {
		return promotion.Target{}, promotion.ErrNotFound
	}
	return targets[i], nil
}

func (s *stub) HoldsOf(_ context.Context, targetID int64) ([]promotion.Hold, error) {
	s.Lock()
	defer s.Unlock()
	return slices.DeleteFunc(slices.Clone(s.holds), func(h promotion.Hold) bool { return targetID != 0 && h.Target.ID != 0 && h.Target.ID != targetID }), nil
}

func (s *stub) OverridesOf(_ context.Context, targetID int64, at time.Time) ([]promotion.Override, error) {
	return slices.DeleteFunc(slices.Clone(s.overrides), func(o promotion.Override) bool { return o.Target.ID != targetID || !at.Before(o.ExpiresAt) }), nil
}

func (s *stub) Overrides(context.Context, time.Time) ([]promotion.Override, error) {
	return s.overrides, nil
}

func (s *stub) Violations(_ context.Context, open bool, _ int) ([]promotion.Violation, error) {
	return slices.DeleteFunc(slices.Clone(s.violations), func(v promotion.Violation) bool { return open && v.ClosedBy != "" }), nil
}

func (s *stub) Overdue(context.Context) ([]promotion.Overdue, error) { return s.overdue, nil }

func (s *stub) Deliveries(context.Context, bool, int) ([]promotion.Delivery, error) {
	return s.deliveries, nil
}

func (s *stub) Notifications(_ context.Context, f promotion.NotificationFilter) ([]promotion.NotificationEntry, error) {
	var all []promotion.NotificationEntry
	for i, d := range s.deliveries {
		arrived := promotion.Delivery{ID: "d-9", Destination: "pager", Attempts: 1, TriedAt: d.Notification.At, DeliveredAt: d.Notification.At}
		all = append(all, promotion.NotificationEntry{ID: int64(i + 1), Notification: d.Notification, Deliveries: []promotion.Delivery{d, arrived}})
	}
	return all, nil
}

func (s *stub) Drifts(_ context.Context, targetID int64, open bool, _ int) ([]promotion.Drift, error) {
	return slices.DeleteFunc(slices.Clone(s.drifts), func(d promotion.Drift) bool {
		return targetID != 0 && d.Target.ID != targetID || open && !d.ResolvedAt.IsZero()
	}), nil
}

func (s *stub) DriftLooks(_ context.Context, targetID int64) ([]promotion.DriftLook, error) {
	return slices.DeleteFunc(slices.Clone(s.driftLooks), func(l promotion.DriftLook) bool { return targetID != 0 && l.Target.ID != targetID }), nil
}

func (s *stub) RestoreLive(_ context.Context, by promotion.Actor, application, environment string) error {
	return s.only(by, []any{"restore live", application, environment})
}

func (s *stub) Freezes(context.Context, time.Time) ([]promotion.Freeze, error) { return s.freezes, nil }

func (s *stub) EvidenceFor(context.Context, int64) ([]promotion.Evidence, error) {
	return s.evidence, nil
}

func (s *stub) RevisionsOf(context.Context, int64, int) ([]promotion.TargetRevision, error) {
	return s.revisions, nil
}

func (s *stub) Changes(context.Context, string, int) ([]promotion.Promotion, error) {
	return s.changes, nil
}

func (s *stub) SeenPullRequests(context.Context, string) (map[int]promotion.SeenPullRequest, error) {
	return map[int]promotion.SeenPullRequest{8: {Number: 8, Verdict: "changes checkout in prod-eu"}}, nil
}

func (s *stub) PolicyInForce(_ context.Context, repository string) (promotion.PolicyInForce, error) {
	if repository != "platform-config" {
		return promotion.PolicyInForce{}, promotion.ErrNotFound
	}
	return promotion.PolicyInForce{ID: 4, Commit: source, Since: before(7200)}, nil
}

func (s *stub) PauseSync(_ context.Context, by promotion.Actor, r promotion.SyncPauseRequest) (promotion.SyncPause, error) {
	return promotion.SyncPause{ID: 4}, s.only(by, []any{"pause sync", r})
}

func (s *stub) ResumeSync(_ context.Context, by promotion.Actor, application, environment string) error {
	return s.only(by, []any{"resume sync", application, environment})
}

func (s *stub) SyncPauses(_ context.Context, targetID int64) ([]promotion.SyncPause, error) {
	s.Lock()
	defer s.Unlock()
	return slices.DeleteFunc(slices.Clone(s.pauses), func(p promotion.SyncPause) bool { return targetID != 0 && p.Target.ID != targetID }), nil
}
