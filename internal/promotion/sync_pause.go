package promotion

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// SyncPause keeps the GitOps engine from syncing a target by itself, as in an emergency in which somebody changes the cluster by
// hand. It ends when a person resumes it; after ExpiresAt it is only reminded of.
type SyncPause struct {
	ID        int64
	Target    Target
	Owner     string // who sees to it that it ends
	Reason    string
	PausedBy  string
	PausedAt  time.Time
	ExpiresAt time.Time
}

// Overdue tells whether the pause should have ended.
func (p SyncPause) Overdue(now time.Time) bool { return !now.Before(p.ExpiresAt) }

// SyncPauseRequest asks for a pause. Owner is who asks when it is empty.
type SyncPauseRequest struct {
	Application, Environment string
	Owner, Reason            string
	ExpiresAt                time.Time
}

// longestPause bounds how long nobody is reminded of a pause.
const longestPause = 7 * 24 * time.Hour

// PauseSync has the engine no longer sync a target by itself. What is paused already is paused anew, with the new owner, reason and
// end. The wish is recorded first, so that a pause that only half took effect is seen; asking again completes it.
func (s *Service) PauseSync(ctx context.Context, by Actor, r SyncPauseRequest) (SyncPause, error) {
	if err := allow(by, "pause automatic sync", RoleReleaseManager, RoleAdmin); err != nil {
		return SyncPause{}, err
	}
	t, err := s.targetNamed(ctx, r.Application, r.Environment)
	if err != nil {
		return SyncPause{}, err
	}
	p := SyncPause{Target: t, Owner: strings.TrimSpace(r.Owner), Reason: strings.TrimSpace(r.Reason), PausedBy: by.Name, PausedAt: s.Now(), ExpiresAt: r.ExpiresAt}
	if p.Owner == "" {
		p.Owner = by.Name
	}
	switch {
	case p.Reason == "":
		return p, invalid("missing-reason", "reason", "say why: everybody who wonders that nothing is synced reads it")
	case !p.ExpiresAt.After(p.PausedAt) || p.ExpiresAt.Sub(p.PausedAt) > longestPause:
		return p, invalid("malformed-expiry", "expires_at", "say until when, within %d days from now: from then on people are reminded of it", int(longestPause.Hours())/24)
	}
	paused, err := s.pausable(ctx, t)
	if err != nil {
		return p, err
	}
	if err := s.recordPause(ctx, by, &p); err != nil {
		return p, err
	}
	return p, s.eachCluster(ctx, paused, Cluster.PauseSync)
}

// pausable are the deployments that the engine syncs by itself, or did before the pause.
func (s *Service) pausable(ctx context.Context, t Target) ([]Deployment, error) {
	deployments, err := s.Store.DeploymentsOf(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	open, err := s.Store.SyncPauses(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	var automatic []Deployment
	for _, d := range deployments {
		if d.AutomatedSync {
			automatic = append(automatic, d)
		}
	}
	if len(automatic) == 0 && len(open) == 0 {
		return nil, conflict("not-automatic", "no Argo CD Application of %s in %s syncs by itself: there is nothing to pause. Hold the target, so that Sluice syncs nothing",
			t.Application, t.Environment)
	}
	return automatic, nil
}

func (s *Service) recordPause(ctx context.Context, by Actor, p *SyncPause) error {
	return s.Store.Tx(ctx, func(tx Tx) error {
		if _, err := tx.EndSyncPause(ctx, p.Target.ID, by.Name, p.PausedAt); err != nil {
			return err
		}
		var err error
		if p.ID, err = tx.InsertSyncPause(ctx, *p); err != nil {
			return err
		}
		e := s.event(ctx, by, "sync.paused", fmt.Sprintf("automatic sync of %s in %s paused until %s, owned by %s: %s",
			p.Target.Application, p.Target.Environment, clock(p.ExpiresAt), p.Owner, p.Reason))
		e.Object, e.Application, e.Environment, e.After = fmt.Sprintf("sync-pause/%d", p.ID), p.Target.Application, p.Target.Environment, *p
		return s.auditAndWake(ctx, tx, e, []Target{p.Target})
	})
}

// ResumeSync has the engine sync a target by itself again, as it did before the pause. It is recorded as ended only when the engine
// was told.
func (s *Service) ResumeSync(ctx context.Context, by Actor, application, environment string) error {
	if err := allow(by, "resume automatic sync", RoleReleaseManager, RoleAdmin); err != nil {
		return err
	}
	t, err := s.targetNamed(ctx, application, environment)
	if err != nil {
		return err
	}
	open, err := s.Store.SyncPauses(ctx, t.ID)
	if err != nil || len(open) == 0 {
		return err // what is not paused is no error
	}
	deployments, err := s.Store.DeploymentsOf(ctx, t.ID)
	if err != nil {
		return err
	}
	if err := s.eachCluster(ctx, deployments, Cluster.ResumeSync); err != nil {
		return err
	}
	return s.Store.Tx(ctx, func(tx Tx) error {
		ended, err := tx.EndSyncPause(ctx, t.ID, by.Name, s.Now())
		if err != nil || !ended {
			return err
		}
		e := s.event(ctx, by, "sync.resumed", fmt.Sprintf("automatic sync of %s in %s resumed by %s", application, environment, by.Name))
		e.Object, e.Application, e.Environment = fmt.Sprintf("sync-pause/%d", open[0].ID), application, environment
		return s.auditAndWake(ctx, tx, e, []Target{t})
	})
}

// eachCluster does something to the engine's object of each deployment. One that is gone needs nothing.
func (s *Service) eachCluster(ctx context.Context, deployments []Deployment, do func(Cluster, context.Context, DeploymentKey) error) error {
	for _, d := range deployments {
		if d.Health == Missing && len(d.EngineObject) == 0 {
			continue
		}
		cluster, ok := s.Clusters[d.Key.Cluster]
		if !ok {
			return fmt.Errorf("cluster %s is not connected to this server", d.Key.Cluster)
		}
		if err := do(cluster, ctx, d.Key); err != nil {
			return err
		}
	}
	return nil
}

// syncHeld asks that nobody holds the target, nor has paused its sync: Sluice does not sync in the engine's place meanwhile. A rollback passes.
func (s *Service) syncHeld(ctx context.Context, f *situation) GateResult {
	if r := s.holdReleased(ctx, f); r.Verdict != Pass || f.Kind == KindRollback {
		return r
	}
	for _, p := range f.pauses {
		return wait("%s", p.says()).with(map[string]any{"pause": p.ID})
	}
	return pass("nobody holds it")
}

// says is the pause in a sentence.
func (p SyncPause) says() string {
	return fmt.Sprintf("Automatic sync is paused by %s until %s: %s. %s has to resume it.", p.PausedBy, clock(p.ExpiresAt), p.Reason, p.Owner)
}
