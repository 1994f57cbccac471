package simulation

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func trackedAs(app, o *unstructured.Unstructured) string {
	kind := o.GroupVersionKind()
	return fmt.Sprintf("%s:%s/%s:%s/%s", app.GetName(), kind.Group, kind.Kind, o.GetNamespace(), o.GetName())
}

// tracked lists what an Application is known to have deployed and is still there.
func (e *Engine) tracked(ctx context.Context, app *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured
	resources, _, _ := unstructured.NestedSlice(app.Object, "status", "resources")
	applied, _, _ := unstructured.NestedSlice(app.Object, "status", "operationState", "syncResult", "resources")
	seen := map[string]bool{}
	for _, r := range append(resources, applied...) {
		m, _ := r.(map[string]any)
		kind := schema.GroupVersionKind{Group: fmt.Sprint(m["group"]), Version: fmt.Sprint(m["version"]), Kind: fmt.Sprint(m["kind"])}
		named := &unstructured.Unstructured{}
		named.SetGroupVersionKind(kind)
		named.SetNamespace(fmt.Sprint(m["namespace"]))
		named.SetName(fmt.Sprint(m["name"]))
		o, err := e.live(ctx, named)
		if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
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
