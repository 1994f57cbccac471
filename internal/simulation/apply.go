package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Annotations that Argo CD and client-side apply leave on objects.
const (
	trackingID  = "argocd.argoproj.io/tracking-id"
	lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
)

func trackedAs(app, o *unstructured.Unstructured) string {
	kind := o.GroupVersionKind()
	return fmt.Sprintf("%s:%s/%s:%s/%s", app.GetName(), kind.Group, kind.Kind, o.GetNamespace(), o.GetName())
}

// applyObject applies client-side: what is rendered wins, what an earlier apply wrote and is rendered no more goes, other fields stay.
func (s *Simulation) applyObject(ctx context.Context, o *unstructured.Unstructured) (message string, err error) {
	name := strings.ToLower(o.GetKind()) + "/" + o.GetName()
	live, err := s.at(o).Get(ctx, o.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		fresh, err := merged(&unstructured.Unstructured{Object: map[string]any{}}, o)
		if err != nil {
			return "", err
		}
		_, err = s.create(ctx, fresh)
		return name + " created", err
	} else if err != nil {
		return "", err
	}
	next, err := merged(live, o)
	if err != nil {
		return "", err
	}
	if equality.Semantic.DeepEqual(next.Object, live.Object) {
		return name + " unchanged", nil
	}
	if err := keepsSelector(live, next); err != nil {
		return "", err
	}
	_, err = s.update(ctx, next)
	return name + " configured", err
}

// isApplied tells whether applying would change nothing.
func (s *Simulation) isApplied(ctx context.Context, o *unstructured.Unstructured) (bool, error) {
	live, err := s.at(o).Get(ctx, o.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	next, err := merged(live, o)
	return err == nil && equality.Semantic.DeepEqual(next.Object, live.Object), err
}

// merged is the live object after a client-side apply of the rendered one.
func merged(live, rendered *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	text, err := json.Marshal(rendered.Object)
	if err != nil {
		return nil, err
	}
	before := map[string]any{}
	if last := live.GetAnnotations()[lastApplied]; last != "" {
		if err := json.Unmarshal([]byte(last), &before); err != nil {
			return nil, fmt.Errorf("last applied configuration of %s %s: %w", live.GetKind(), live.GetName(), err)
		}
	}
	next := live.DeepCopy()
	overlay(next.Object, rendered.DeepCopy().Object, before)
	annotate(next, lastApplied, string(text))
	return next, nil
}

// overlay writes fields over those of a map, and removes those that were written before and are written no more.
// Lists are replaced whole.
func overlay(live, written, before map[string]any) {
	for key := range before {
		if _, still := written[key]; !still {
			delete(live, key)
		}
	}
	for key, value := range written {
		inner, isMap := value.(map[string]any)
		current, hasMap := live[key].(map[string]any)
		if isMap && hasMap {
			earlier, _ := before[key].(map[string]any)
			overlay(current, inner, earlier)
			continue
		}
		live[key] = value
	}
}

// keepsSelector refuses what an API server refuses most often: a workload's selector cannot change.
func keepsSelector(live, next *unstructured.Unstructured) error {
	old, had, _ := unstructured.NestedMap(live.Object, "spec", "selector", "matchLabels")
	selector, _, _ := unstructured.NestedMap(next.Object, "spec", "selector", "matchLabels")
	if !had || equality.Semantic.DeepEqual(old, selector) {
		return nil
	}
	kind := schema.GroupKind{Group: live.GroupVersionKind().Group, Kind: live.GetKind()}
	return apierrors.NewInvalid(kind, live.GetName(), field.ErrorList{field.Invalid(field.NewPath("spec", "selector"), selector, "field is immutable")})
}

// refused is what the API server has against an object, empty if the error is about something else.
func refused(err error) string {
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) {
		return err.Error()
	}
	return ""
}

// tracked lists what an Application is known to have deployed and is still there.
func (s *Simulation) tracked(ctx context.Context, app *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured
	resources, _, _ := unstructured.NestedSlice(app.Object, "status", "resources")
	applied, _, _ := unstructured.NestedSlice(app.Object, "status", "operationState", "syncResult", "resources")
	seen := map[string]bool{}
	for _, r := range append(resources, applied...) {
		m, _ := r.(map[string]any)
		kind := schema.GroupVersionKind{Group: fmt.Sprint(m["group"]), Version: fmt.Sprint(m["version"]), Kind: fmt.Sprint(m["kind"])}
		o, err := s.api.Resource(resourceOf(kind)).Namespace(fmt.Sprint(m["namespace"])).Get(ctx, fmt.Sprint(m["name"]), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		} else if err != nil {
			return nil, err
		}
		if id := trackedAs(app, o); o.GetAnnotations()[trackingID] == id && !seen[id] {
			seen[id] = true
			found = append(found, o)
		}
	}
	return found, nil
}

// superfluous are the tracked objects that are rendered no more.
func superfluous(tracked, desired []*unstructured.Unstructured) []*unstructured.Unstructured {
	wanted := map[string]bool{}
	for _, o := range desired {
		wanted[o.GetAnnotations()[trackingID]] = true
	}
	var extra []*unstructured.Unstructured
	for _, o := range tracked {
		if !wanted[o.GetAnnotations()[trackingID]] {
			extra = append(extra, o)
		}
	}
	return extra
}

func annotate(o *unstructured.Unstructured, key, value string) {
	annotations := maps.Clone(o.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	o.SetAnnotations(annotations)
}

func copied(m map[string]any) map[string]any { return runtime.DeepCopyJSON(m) }
