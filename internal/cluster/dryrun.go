package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluicehq/sluice/internal/promotion"
)

// engineManager is whom Argo CD's applies are by, so that a dry run meets the conflicts that the sync will meet.
const engineManager = "argocd-controller"

// DryRun implements promotion.Inspector.
func (i Inspector) DryRun(ctx context.Context, key promotion.DeploymentKey, want promotion.Desired) (promotion.DryRun, error) {
	if _, err := i.application(ctx, key); err != nil {
		return promotion.DryRun{}, err
	}
	var out promotion.DryRun
	desired := placed(want)
	made, engine := madeBy(desired, want), &engineRights{Inspector: i, known: map[access]bool{}}
	for _, o := range desired {
		name := nameOfObject(o)
		if o.GetName() == "" {
			out.Unchecked = append(out.Unchecked, name+o.GetGenerateName()+"…: its name is made at the sync")
			continue
		}
		if refusal := engine.refusal(ctx, o); refusal != "" {
			out.Refused = append(out.Refused, name+": "+refusal)
			continue
		}
		_, err := i.dryRun(ctx, o)
		switch why := made.unchecked(o, err); {
		case err == nil:
			out.Passed++
		case why != "":
			out.Unchecked = append(out.Unchecked, name+": "+why)
		case refusesObject(err):
			out.Refused = append(out.Refused, name+": "+firstLine(err))
		default:
			return promotion.DryRun{}, fmt.Errorf("dry run of %s in cluster %s: %w", name, i.Name, err)
		}
	}
	if why := engine.unchecked(); why != "" {
		out.Unchecked = append(out.Unchecked, why)
	}
	return out, nil
}

// dryRun applies an object server-side, as the engine would, and stores nothing.
func (i Inspector) dryRun(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	at, err := i.at(o.GroupVersionKind(), o.GetNamespace())
	if err != nil {
		return nil, err
	}
	return at.Apply(ctx, o.GetName(), o, metav1.ApplyOptions{DryRun: []string{metav1.DryRunAll}, Force: true, FieldManager: engineManager})
}

// makes is what the same sync makes first: without it, what needs it cannot be checked.
type makes struct {
	namespaces map[string]bool
	kinds      map[string]bool // group/kind of definitions
}

func madeBy(desired []*unstructured.Unstructured, want promotion.Desired) makes {
	m := makes{namespaces: map[string]bool{}, kinds: map[string]bool{}}
	if want.CreatesNamespace {
		m.namespaces[want.Namespace] = true
	}
	for _, o := range desired {
		switch o.GetKind() {
		case "Namespace":
			m.namespaces[o.GetName()] = true
		case "CustomResourceDefinition":
			group, _, _ := unstructured.NestedString(o.Object, "spec", "group")
			kind, _, _ := unstructured.NestedString(o.Object, "spec", "names", "kind")
			m.kinds[group+"/"+kind] = true
		}
	}
	return m
}

// unchecked says why a dry run could not tell; empty when it could.
func (m makes) unchecked(o *unstructured.Unstructured, err error) string {
	kind := o.GroupVersionKind()
	switch {
	case err == nil:
		return ""
	case errors.Is(err, errUnserved) && m.kinds[kind.Group+"/"+kind.Kind]:
		return "its kind is defined by the same sync"
	case apierrors.IsNotFound(err) && m.namespaces[o.GetNamespace()]:
		return "its namespace " + o.GetNamespace() + " is made by the same sync"
	case strings.Contains(err.Error(), "does not support dry run"):
		return firstLine(err)
	case apierrors.IsMethodNotSupported(err):
		return "the cluster knows no dry run"
	case refusedToUs(err):
		return "Sluice's account may not ask for it: " + firstLine(err)
	}
	return ""
}

// refusesObject tells whether the API server has something against the object itself, and not against being asked now.
func refusesObject(err error) bool {
	return errors.Is(err, errUnserved) || isMalformed(err) || isWebhookAway(err) || apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsUnsupportedMediaType(err)
}

// isMalformed tells whether an object has fields that its kind has not, or elements that cannot be told apart. The API server calls it
// an error of its own.
func isMalformed(err error) bool {
	return strings.Contains(err.Error(), "failed to create typed patch object") || strings.Contains(err.Error(), "field not declared in schema")
}

// isWebhookAway tells whether an admission webhook that has to be asked does not answer: what it is asked about is refused until it does.
func isWebhookAway(err error) bool {
	return apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed calling webhook")
}

// refusedToUs tells whether RBAC, or the policy that guards Sluice's account, forbids Sluice itself to ask. An admission webhook and a quota
// forbid too, but they mean the object.
func refusedToUs(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "User \"") && strings.Contains(err.Error(), "cannot ")
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
