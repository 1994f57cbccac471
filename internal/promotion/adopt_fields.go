package promotion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// planFields has main say fields as they are live. They are read anew: what is adopted is what the cluster has now, and what whoever
// asks has seen.
func (s *Service) planFields(ctx context.Context, t Target, ids []int64) (p Promotion, plan AdoptPlan, err error) {
	asked, err := s.askedDrift(ctx, t, ids)
	if err != nil {
		return p, plan, err
	}
	now, selfHeal, err := s.driftNow(ctx, t, asked[0].Deployment)
	if err != nil {
		return p, plan, err
	}
	plan.SelfHeal = selfHeal
	var causes []string
	for _, d := range asked {
		i := slices.IndexFunc(now, d.sameField)
		if i < 0 || now[i].Have != d.Have {
			return p, plan, conflict("drift-changed", "%s of %s is no longer %s%s: look at the drift again", orWhole(d.Path), d.Object, shownValue(d.Have), healed(selfHeal))
		}
		if why := notAdoptable(now[i]); why != "" {
			return p, plan, conflict("not-adoptable", "%s of %s cannot be adopted: %s", orWhole(d.Path), d.Object, why)
		}
		plan.Fields = append(plan.Fields, AdoptedField{Object: d.Object, Path: d.Path, Steps: now[i].Steps, Value: now[i].Live})
		causes = append(causes, fmt.Sprintf("%s of %s is %s, set by %s; Git says %s", d.Path, d.Object, shownValue(d.Have), now[i].Owner, shownValue(now[i].Want)))
	}
	plan.Cause = strings.Join(causes, ". ") + "."
	p = Promotion{Target: t, Kind: KindChange, Adopt: plan.Adoption}
	plan.RestorePlan, err = s.planEdit(ctx, t, plan.Fields)
	p.Release = plan.Release
	plan.Change.Notes = append(plan.Change.Notes, s.otherClusters(ctx, t, asked[0].Deployment)...)
	return p, plan, err
}

func shownValue(value string) string {
	if value == "" {
		return "nothing"
	}
	return value
}

func healed(selfHeal bool) string {
	if selfHeal {
		return ", maybe since self-heal is on and Argo CD has undone it"
	}
	return ""
}

// askedDrift are the fields that a request names: open, and of one deployment.
func (s *Service) askedDrift(ctx context.Context, t Target, ids []int64) ([]Drift, error) {
	open, err := s.Store.Drifts(ctx, t.ID, true, driftsRead)
	if err != nil {
		return nil, fmt.Errorf("read the drift of %s: %w", t.Path, err)
	}
	var asked []Drift
	for _, id := range ids {
		if id == 0 {
			return nil, invalid("missing-fields", "fields", "say which of the drift of %s in %s to adopt", t.Application, t.Environment)
		}
		i := slices.IndexFunc(open, func(d Drift) bool { return d.ID == id })
		if i < 0 {
			return nil, conflict("drift-changed", "%s in %s has no open drift %d: it is resolved, or something has undone it. Look at the drift again", t.Application, t.Environment, id)
		}
		if len(asked) > 0 && asked[0].Deployment != open[i].Deployment {
			return nil, invalid("several-deployments", "fields", "adopt the fields of %s in %s and those of %s in %s one after the other: one commit holds for both", asked[0].Deployment.Name,
				asked[0].Deployment.Cluster, open[i].Deployment.Name, open[i].Deployment.Cluster)
		}
		asked = append(asked, open[i])
	}
	return asked, nil
}

// driftNow compares a deployment with Git.
func (s *Service) driftNow(ctx context.Context, t Target, key DeploymentKey) (now []Drift, selfHeal bool, err error) {
	all, err := s.Store.DeploymentsOf(ctx, t.ID)
	if err != nil {
		return nil, false, fmt.Errorf("read deployments of %s: %w", t.Path, err)
	}
	i := slices.IndexFunc(all, func(d Deployment) bool { return d.Key == key })
	if i < 0 {
		return nil, false, conflict("drift-unknown", "%s in %s is gone", key.Name, key.Cluster)
	}
	look := DriftLook{Revision: all[i].Revision}
	if look.Revision == "" {
		look.Revision = all[i].ComparedRevision
	}
	found, err := s.inspect(ctx, t, all[i], &look)
	if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	if err != nil {
		return nil, false, conflict("drift-unknown", "it is unknown how %s in %s differs from Git: %v", key.Name, key.Cluster, err)
	}
	return found.Differences, look.SelfHeal, nil
}

// notAdoptable says why a field stays out of Git; empty when it need not.
func notAdoptable(d Drift) string {
	switch {
	case !d.Counts():
		return "it is no drift: " + d.Excuse
	case isImage(d.Path):
		return "an image comes from a release. Adopt the release that runs, without naming fields"
	case d.Class != DriftHuman:
		return fmt.Sprintf("%s wrote it and no person. Have Git leave the field out, or mend the writer", shownValue(d.Owner))
	case strings.HasPrefix(d.Object, "Secret "):
		return "what is in a Secret never goes into Git. Change it where the Secret comes from"
	case d.Have == "":
		return "somebody took it away. Take it out of Git by hand, or restore what Git says"
	case d.Live == "":
		return "its value is hidden from people, or is a whole map or list. Change Git by hand"
	}
	return ""
}

// planEdit is the edit on today's main.
func (s *Service) planEdit(ctx context.Context, t Target, fields []AdoptedField) (RestorePlan, error) {
	plan := RestorePlan{Target: t}
	site, err := s.site(t)
	if err != nil {
		return plan, err
	}
	head, err := site.Repository.Fetch(ctx)
	if err != nil {
		return plan, fmt.Errorf("fetch config repository %s: %w", t.Repository, err)
	}
	tree, err := site.Repository.Tree(ctx, head)
	if err != nil {
		return plan, err
	}
	if plan.Change, err = s.Manifests.SetFields(tree, t.Path, fields); err != nil {
		return plan, conflict("cannot-adopt", "%s cannot be changed so: %v", t.Path, err)
	}
	if plan.Change.empty() {
		return plan, conflict("already-current", "main has these values of %s already: a sync makes both the same", t.Path)
	}
	latest, err := s.Store.LatestRevision(ctx, t.ID)
	if err == nil && latest.ReleaseID != 0 {
		plan.Release, err = s.Store.Release(ctx, latest.ReleaseID)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return plan, fmt.Errorf("read what main renders for %s: %w", t.Path, err)
	}
	plan.Others, err = s.alsoChanged(ctx, site, t, head, plan.Change)
	return plan, err
}

// otherClusters says which deployments get the fields that were changed in one.
func (s *Service) otherClusters(ctx context.Context, t Target, key DeploymentKey) []string {
	all, err := s.Store.DeploymentsOf(ctx, t.ID)
	if err != nil {
		return []string{fmt.Sprintf("which other clusters get it is unknown: %v", err)}
	}
	var notes []string
	for _, d := range all {
		if d.Key != key && len(d.EngineObject) > 0 {
			notes = append(notes, fmt.Sprintf("%s in %s gets it, too: one commit holds for all", d.Key.Name, d.Key.Cluster))
		}
	}
	return notes
}

// startAdopting stores the change of fields that Sluice writes itself. Unlike releases, changes stand beside what else is open.
func (s *Service) startAdopting(ctx context.Context, tx Tx, by Actor, p Promotion) (int64, error) {
	known, err := tx.Promotions(ctx, PromotionFilter{Application: p.Target.Application, Environment: p.Target.Environment, Unfinished: true, Limit: 100})
	if err != nil {
		return 0, err
	}
	for _, o := range known {
		if o.Kind == KindChange && o.Open() && slices.EqualFunc(o.Adopt.Fields, p.Adopt.Fields, AdoptedField.same) {
			return o.ID, nil
		}
	}
	p.Decision, p.PullRequest = Requested, PullRequestNone
	if p.ID, err = tx.InsertPromotion(ctx, p); err != nil {
		return 0, fmt.Errorf("store the change of %s: %w", p.Target.Path, err)
	}
	message := fmt.Sprintf("change of %s in %s requested. It makes Git say what was changed past it: %s", p.Target.Application, p.Target.Environment, p.Adopt.Cause)
	if err := tx.Audit(ctx, s.promotionEvent(ctx, by, p, "promotion.requested", message)); err != nil {
		return 0, err
	}
	return p.ID, tx.Enqueue(ctx, Work{Kind: WorkAdvance, PromotionID: p.ID})
}
