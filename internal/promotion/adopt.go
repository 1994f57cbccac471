package promotion

import (
	"context"
	"fmt"
	"strings"
)

// Adoption says which drift a promotion makes Git say.
type Adoption struct {
	Cause  string         // the drift, in words; empty: nothing is adopted
	Fields []AdoptedField // as they are live; none: the release that runs is adopted
}

// AdoptedField is a field of one object that Git is to say as it is live.
type AdoptedField struct {
	Object string   `json:"object"` // Kind.group namespace/name
	Path   string   `json:"path"`   // for people
	Steps  []string `json:"steps"`  // to the field: f:name, k:{"name":"web"} or i:0, as managedFields write them
	Value  string   `json:"value"`  // a text, number or boolean as JSON
}

func (f AdoptedField) same(o AdoptedField) bool {
	return f.Object == o.Object && f.Path == o.Path && f.Value == o.Value
}

// AdoptRequest asks that Git say what was changed past it.
type AdoptRequest struct {
	Application, Environment string
	Fields                   []int64 // ids of drift: these fields; none: the earlier release that was rolled back to by hand
	Reason                   string
}

// AdoptPlan is what adopting would change, before anybody asks for it.
type AdoptPlan struct {
	RestorePlan
	Adoption
	SelfHeal bool // the engine undoes the drift by itself, maybe before Git says it
}

// PlanAdopt says what adopting would change. It changes nothing.
func (s *Service) PlanAdopt(ctx context.Context, r AdoptRequest) (AdoptPlan, error) {
	_, plan, err := s.plannedAdoption(ctx, r)
	return plan, err
}

// Adopt starts the promotion that makes Git say what was changed past it: a rollback to the release that runs, or a change of fields.
// Asking again for what is under way returns it.
func (s *Service) Adopt(ctx context.Context, by Actor, r AdoptRequest) (Promotion, error) {
	if err := allow(by, "adopt live changes", RoleReleaseManager, RoleAdmin); err != nil {
		return Promotion{}, err
	}
	if strings.TrimSpace(r.Reason) == "" {
		return Promotion{}, invalid("missing-reason", "reason", "say why it was changed past Git: approvers read it, and so does whoever asks later")
	}
	p, _, err := s.plannedAdoption(ctx, r)
	if err != nil {
		return Promotion{}, err
	}
	p.RequestedBy, p.RequestedAt, p.Reason = by.Name, s.Now(), r.Reason
	return s.begin(ctx, by, p)
}

// plannedAdoption is the promotion that a request would start, and what it would change.
func (s *Service) plannedAdoption(ctx context.Context, r AdoptRequest) (Promotion, AdoptPlan, error) {
	t, err := s.targetNamed(ctx, r.Application, r.Environment)
	if err != nil {
		return Promotion{}, AdoptPlan{}, err
	}
	if len(r.Fields) > 0 {
		return s.planFields(ctx, t, r.Fields)
	}
	return s.planRelease(ctx, t)
}

// planRelease has main say the earlier release that runs, and the configuration with it where the engine was made to apply an older commit.
func (s *Service) planRelease(ctx context.Context, t Target) (p Promotion, plan AdoptPlan, err error) {
	found, err := s.rolledBackTo(ctx, t)
	if err != nil {
		return p, plan, err
	}
	plan.Adoption.Cause, plan.SelfHeal = found.look.Rollback, found.look.SelfHeal
	p = Promotion{Target: t, Release: found.release, Kind: KindRollback, Adopt: plan.Adoption}
	if len(found.images) > 0 {
		plan.RestorePlan, err = s.planImages(ctx, t, p.Release)
	} else {
		p.Restore.Commit = found.deployment.Revision
		plan.RestorePlan, err = s.planRestoration(ctx, t, p.Release, p.Restore)
	}
	plan.Change.Notes = append(plan.Change.Notes, leftToUndo(found.others)...)
	return p, plan, err
}

// leftToUndo says what else drifts and is not adopted: the sync of the promotion writes Git's value.
func leftToUndo(others []Drift) []string {
	notes := make([]string, len(others))
	for i, d := range others {
		notes[i] = fmt.Sprintf("%s of %s is not adopted: the sync sets it to what Git says, %s", orWhole(d.Path), d.Object, orNothing(d.Want))
	}
	return notes
}

func orNothing(value string) string {
	if value == "" {
		return "which is nothing"
	}
	return value
}
