package promotion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// driftTime is how long one deployment may take to be compared. A cluster that answers slower is unknown.
const driftTime = 45 * time.Second

// driftPatience is how long after a look the next one may come: what was so in a longer time is unknown.
const driftPatience = 10 * time.Minute

// LookForDrift has each deployment that has a target compared with Git.
func (s *Service) LookForDrift(ctx context.Context) error {
	all, err := s.Store.Deployments(ctx, "", "")
	if err != nil {
		return fmt.Errorf("list deployments: %w", err)
	}
	return s.Store.Tx(ctx, func(tx Tx) error {
		for _, d := range all {
			if d.TargetID == 0 || len(d.EngineObject) == 0 || s.Inspectors[d.Key.Cluster] == nil {
				continue
			}
			if err := tx.Enqueue(ctx, Work{Kind: WorkDrift, Application: d.Application, Environment: d.Environment, Deployment: d.Key}); err != nil {
				return err
			}
		}
		return nil
	})
}

// LookForDriftOf compares one deployment with what its synced revision renders. Another server that is at it does as well.
func (s *Service) LookForDriftOf(ctx context.Context, application, environment string, key DeploymentKey) error {
	t, err := s.Store.TargetNamed(ctx, application, environment)
	if errors.Is(err, ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	all, err := s.Store.DeploymentsOf(ctx, t.ID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(d Deployment) bool { return d.Key == key })
	if i < 0 || all[i].Operation == "Running" {
		return nil // the engine is changing it: what is found now is on its way
	}
	_, err = s.Store.Exclusively(ctx, fmt.Sprintf("drift/%d", all[i].ID), func(ctx context.Context) error {
		return s.lookForDrift(ctx, t, all[i])
	})
	return err
}

func (s *Service) lookForDrift(ctx context.Context, t Target, d Deployment) error {
	look := DriftLook{DeploymentID: d.ID, Target: t, Revision: d.Revision}
	if look.Revision == "" {
		look.Revision = d.ComparedRevision
	}
	found, err := s.inspect(ctx, t, d, &look)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	look.LookedAt = s.Now()
	if len(found.Unread) == 0 {
		look.KnownSince = look.LookedAt
	}
	if err != nil {
		look.Problem, look.ProblemSince, look.LookedAt, look.KnownSince = err.Error(), look.LookedAt, time.Time{}, time.Time{}
		return s.Store.Tx(ctx, func(tx Tx) error { return s.saveDriftLook(ctx, tx, look) })
	}
	if look.Rollback, err = s.rolledBackByHand(ctx, t, d, found.Differences); err != nil {
		return err
	}
	look.Unchecked = found.Unchecked
	for _, o := range found.Unread {
		look.Unchecked = append(look.Unchecked, o+" could not be read")
	}
	return s.Store.Tx(ctx, func(tx Tx) error { return s.recordDrift(ctx, tx, t, d, look, found) })
}

func (s *Service) saveDriftLook(ctx context.Context, tx Tx, look DriftLook) error {
	return tx.SaveDriftLook(ctx, look, s.Now().Add(-driftPatience))
}

// inspect renders the synced revision and has the cluster compare. The error says why drift is unknown.
func (s *Service) inspect(ctx context.Context, t Target, d Deployment, look *DriftLook) (Inspection, error) {
	inspector := s.Inspectors[d.Key.Cluster]
	switch {
	case inspector == nil:
		return Inspection{}, fmt.Errorf("cluster %s is not connected to this server", d.Key.Cluster)
	case look.Revision == "" && d.Sync == SyncUnknown && d.Message != "":
		return Inspection{}, errors.New(d.Message)
	case look.Revision == "":
		return Inspection{}, errors.New("nothing was ever synced here, as far as Argo CD says")
	}
	want, err := s.desired(ctx, t, d, look.Revision)
	if err != nil {
		return Inspection{}, err
	}
	look.SelfHeal = want.SelfHeal
	ctx, stop := context.WithTimeout(ctx, driftTime)
	defer stop()
	return inspector.Differences(ctx, d.Key, want)
}

// desired is what the engine makes of a revision.
func (s *Service) desired(ctx context.Context, t Target, d Deployment, revision string) (Desired, error) {
	site, err := s.site(t)
	if err != nil {
		return Desired{}, err
	}
	tree, err := site.Repository.Tree(ctx, revision)
	if err != nil {
		return Desired{}, fmt.Errorf("commit %s cannot be read: %w", short(revision), err)
	}
	want, err := s.Engine.Desired(tree, d.EngineObject, site.URL, site.BaseBranch)
	if err != nil {
		return Desired{}, fmt.Errorf("%s cannot be rendered at %s: %w", t.Path, short(revision), err)
	}
	return want, nil
}

// recordDrift stores what differs from what was known.
func (s *Service) recordDrift(ctx context.Context, tx Tx, t Target, d Deployment, look DriftLook, found Inspection) error {
	known, resolved, err := knownDrifts(ctx, tx, d)
	if err != nil {
		return err
	}
	var appeared []Drift
	for _, now := range found.Differences {
		i := slices.IndexFunc(known, now.sameField)
		if i >= 0 && now.keeps(known[i]) {
			now.OwnedAt = known[i].OwnedAt
		}
		switch {
		case i < 0:
			now.FirstSeen, appeared = look.LookedAt, append(appeared, now)
			err = tx.InsertDrift(ctx, d.ID, t.ID, now)
		case !now.sameAs(known[i]):
			now.ID = known[i].ID
			err = tx.SaveDrift(ctx, now)
		}
		if err != nil {
			return fmt.Errorf("store the drift of %s: %w", now.Object, err)
		}
	}
	for _, before := range known {
		if slices.ContainsFunc(found.Differences, before.sameField) || slices.Contains(found.Unread, before.Object) {
			continue
		}
		if err := tx.ResolveDrift(ctx, before.ID, before.LastSeen, look.LookedAt); err != nil {
			return fmt.Errorf("resolve the drift of %s: %w", before.Object, err)
		}
		resolved = append(resolved, before)
	}
	if err := s.saveDriftLook(ctx, tx, look); err != nil {
		return err
	}
	if err := s.violateByEdit(ctx, tx, t, appeared); err != nil {
		return err
	}
	if len(appeared)+len(resolved) > 0 {
		if err := s.enqueueWatchers(ctx, tx, t); err != nil {
			return err
		}
	}
	return errors.Join(s.auditDrift(ctx, tx, t, d, "drift.resolved", "as Git says again", resolved),
		s.auditDrift(ctx, tx, t, d, "drift.found", "not as Git says", appeared))
}

// knownDrifts are the fields that drifted at the last look and may do so still. Those that the engine has put right since are
// resolved, also when somebody has changed them again: an engine that heals at once does so between two looks.
func knownDrifts(ctx context.Context, tx Tx, d Deployment) (open, resolved []Drift, err error) {
	all, err := tx.OpenDrifts(ctx, d.ID)
	if err != nil || len(all) == 0 {
		return nil, nil, err
	}
	at, err := tx.SyncedAgain(ctx, d.ID, all[0].LastSeen)
	if err != nil {
		return nil, nil, fmt.Errorf("read when %s was synced again: %w", d.Key.Name, err)
	}
	for _, f := range all {
		if at.IsZero() || f.Want == "" || !f.Counts() { // the engine is content with fields that Git does not have
			open = append(open, f)
			continue
		}
		if err := tx.ResolveDrift(ctx, f.ID, f.LastSeen, at); err != nil {
			return nil, nil, fmt.Errorf("resolve the drift of %s: %w", f.Object, err)
		}
		resolved = append(resolved, f)
	}
	return open, resolved, nil
}

// auditDrift says what appeared or went, in one event.
func (s *Service) auditDrift(ctx context.Context, tx Tx, t Target, d Deployment, action, what string, all []Drift) error {
	var fields []string
	for _, f := range all {
		if f.Counts() {
			fields = append(fields, fmt.Sprintf("%s (%s)", strings.TrimSpace(f.Object+" "+f.Path), f.Class))
		}
	}
	if len(fields) == 0 {
		return nil
	}
	const named = 5
	more := ""
	if len(fields) > named {
		more = fmt.Sprintf(" and %d more", len(fields)-named)
	}
	e := s.event(ctx, Sluice(), action, fmt.Sprintf("%s in %s: %s: %s%s", d.Key.Name, d.Key.Cluster, what, strings.Join(fields[:min(named, len(fields))], ", "), more))
	e.Object, e.Application, e.Environment = "deployment/"+d.Key.Name, t.Application, t.Environment
	return tx.Audit(ctx, e)
}

// violateByEdit records what people changed past every gate, where a gate guards the sync.
func (s *Service) violateByEdit(ctx context.Context, tx Tx, t Target, appeared []Drift) error {
	policy, err := s.PolicyFor(ctx, t)
	if err != nil || !policy.SyncBySluice {
		return err
	}
	for _, d := range appeared {
		if d.Class != DriftHuman || !d.Counts() {
			continue
		}
		v := Violation{Target: t, Kind: ViolationEdited, Actor: "unknown", Subject: fmt.Sprintf("%s %s %s", d.Object, d.Path, d.FirstSeen.UTC().Format(time.RFC3339)),
			Message: fmt.Sprintf("%s of %s was changed in the cluster with %s, around every gate", orWhole(d.Path), d.Object, d.Owner)}
		if err := s.violate(ctx, tx, v); err != nil {
			return err
		}
	}
	return nil
}

func orWhole(path string) string {
	if path == "" {
		return "the whole"
	}
	return path
}
