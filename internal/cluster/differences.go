package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/sluicehq/sluice/internal/drift"
	"github.com/sluicehq/sluice/internal/manifest"
	"github.com/sluicehq/sluice/internal/promotion"
)

// Differences implements promotion.Inspector.
func (i Inspector) Differences(ctx context.Context, key promotion.DeploymentKey, want promotion.Desired) (promotion.Inspection, error) {
	app, err := i.application(ctx, key)
	if err != nil {
		return promotion.Inspection{}, err
	}
	g := &gathering{Inspector: i, rules: rulesOf(want), dryRuns: true}
	for _, rule := range g.rules {
		for _, expression := range rule.Unread() {
			g.out.Unchecked = append(g.out.Unchecked, fmt.Sprintf("ignoreDifferences %s cannot be followed here: what it hides is listed", expression))
		}
	}
	desired := placed(want)
	for _, o := range desired {
		if err := g.compare(ctx, o); err != nil {
			return promotion.Inspection{}, err
		}
	}
	if err := g.superfluous(ctx, app, desired); err != nil {
		return promotion.Inspection{}, err
	}
	return g.out, nil
}

// gathering is one deployment being compared.
type gathering struct {
	Inspector
	rules   []drift.Rule
	dryRuns bool // may be asked for: what was refused once is not asked again
	out     promotion.Inspection
}

// compare reads one object. The error is one of the whole cluster: it cannot be reached, or answers too slowly.
func (g *gathering) compare(ctx context.Context, o *unstructured.Unstructured) error {
	live, err := g.live(ctx, o)
	switch {
	case errors.Is(err, errUnserved):
		g.out.Unread = append(g.out.Unread, nameOfObject(o))
		return nil
	case apierrors.IsNotFound(err):
		g.add(o, drift.Compare(drift.Pair{Desired: o.Object}, g.rules))
		return nil
	case refusedToUs(err):
		g.out.Unread = append(g.out.Unread, nameOfObject(o))
		return nil
	case err != nil:
		return fmt.Errorf("read %s in cluster %s: %w", nameOfObject(o), g.Name, err)
	}
	pair := drift.Pair{Desired: o.Object, Live: live.Object}
	if applied := g.applied(ctx, o); applied != nil {
		pair.Applied = applied.Object
	}
	g.add(o, drift.Compare(pair, g.rules))
	return nil
}

func (g *gathering) live(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if o.GetName() == "" {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: o.GetKind()}, o.GetGenerateName())
	}
	at, err := g.at(o.GroupVersionKind(), o.GetNamespace())
	if err != nil {
		return nil, err
	}
	return at.Get(ctx, o.GetName(), metav1.GetOptions{})
}

// applied is what a dry run makes of an object; nil where none can be had, which is less to go by and no error.
func (g *gathering) applied(ctx context.Context, o *unstructured.Unstructured) *unstructured.Unstructured {
	if !g.dryRuns {
		return nil
	}
	applied, err := g.dryRun(ctx, o)
	switch {
	case err == nil:
		return applied
	case refusedToUs(err) || apierrors.IsMethodNotSupported(err):
		g.dryRuns = false
		g.out.Unchecked = append(g.out.Unchecked, "no dry run may be asked for: what a webhook decides is told by the owners of fields alone")
	default:
		g.out.Unchecked = append(g.out.Unchecked, fmt.Sprintf("%s: no dry run: %s", nameOfObject(o), firstLine(err)))
	}
	return nil
}

// superfluous finds what the Application deployed and Git no longer has.
func (g *gathering) superfluous(ctx context.Context, app *unstructured.Unstructured, desired []*unstructured.Unstructured) error {
	for _, r := range resourcesOf(app) {
		wanted := slices.ContainsFunc(desired, func(o *unstructured.Unstructured) bool {
			kind := o.GroupVersionKind()
			return kind.Group == r.group && kind.Kind == r.kind && o.GetName() == r.name && (r.namespace == "" || o.GetNamespace() == r.namespace)
		})
		if wanted || r.hook {
			continue
		}
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(schema.GroupVersionKind{Group: r.group, Version: r.version, Kind: r.kind})
		o.SetNamespace(r.namespace)
		o.SetName(r.name)
		live, err := g.live(ctx, o)
		switch {
		case apierrors.IsNotFound(err):
		case refusedToUs(err) || errors.Is(err, errUnserved):
			g.out.Unread = append(g.out.Unread, nameOfObject(o))
		case err != nil:
			return fmt.Errorf("read %s in cluster %s: %w", nameOfObject(o), g.Name, err)
		default:
			g.add(o, drift.Compare(drift.Pair{Live: live.Object}, g.rules))
		}
	}
	return nil
}

// add puts differences into the domain's terms, each field of an object once.
func (g *gathering) add(o *unstructured.Unstructured, found []drift.Difference) {
	kind := o.GroupVersionKind()
	id := manifest.ID{Group: kind.Group, Kind: kind.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
	for _, d := range found {
		out := promotion.Drift{Object: nameOfObject(o), Path: d.Path.String(), Class: promotion.DriftClass(d.Class), Owner: d.Owner.Says(),
			Manager: d.Owner.Manager, Operation: d.Owner.Operation, OwnedAt: d.Owner.At, Excuse: d.Excuse, Finding: d.Finding,
			Want: manifest.Shown(id, d.Path.Fields(), d.Path.Name(), d.Want), Have: manifest.Shown(id, d.Path.Fields(), d.Path.Name(), d.Have)}
		if scalar, err := json.Marshal(d.Have); err == nil && len(d.Path) > 0 && isScalar(d.Have) && id.Kind != "Secret" && manifest.ShownWhole(out.Have, d.Have) {
			out.Steps, out.Live = d.Path, string(scalar)
		}
		if !slices.ContainsFunc(g.out.Differences, func(other promotion.Drift) bool { return other.Object == out.Object && other.Path == out.Path }) {
			g.out.Differences = append(g.out.Differences, out)
		}
	}
}

func isScalar(value any) bool {
	switch value.(type) {
	case string, bool, int64, float64:
		return true
	}
	return false
}

func rulesOf(want promotion.Desired) []drift.Rule {
	rules := make([]drift.Rule, len(want.IgnoreDifferences))
	for i, r := range want.IgnoreDifferences {
		rules[i] = drift.Rule{Group: r.Group, Kind: r.Kind, Name: r.Name, Namespace: r.Namespace, JSONPointers: r.JSONPointers,
			JQPathExpressions: r.JQPathExpressions, Managers: r.Managers}
	}
	slices.SortStableFunc(rules, func(a, b drift.Rule) int { return cmp.Compare(a.Kind, b.Kind) })
	return rules
}
