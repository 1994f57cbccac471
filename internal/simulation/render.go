package simulation

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// renderCache keeps what main's head renders, since it is compared at every step.
type renderCache struct {
	revision string
	byPath   map[string][]*unstructured.Unstructured
}

// render is what an Application's path holds at a revision, placed in its namespace and marked as its own.
func (e *Engine) render(ctx context.Context, app *unstructured.Unstructured, revision, head string) ([]*unstructured.Unstructured, error) {
	path := folderOf(app)
	if e.rendered.revision != head {
		e.rendered = renderCache{head, map[string][]*unstructured.Unstructured{}}
	}
	found, known := e.rendered.byPath[path]
	if !known || revision != head {
		var err error
		if found, err = e.Render(ctx, revision, path); err != nil {
			return nil, err
		}
		if found, err = asDecoded(found); err != nil {
			return nil, err
		}
		if revision == head {
			e.rendered.byPath[path] = found
		}
	}
	desired := make([]*unstructured.Unstructured, len(found))
	for i, o := range found {
		desired[i] = o.DeepCopy()
		e.place(app, desired[i])
	}
	return desired, nil
}

// place gives an object the Application's namespace where it names none and its kind lives in one.
func (e *Engine) place(app, o *unstructured.Unstructured) {
	_, namespaced, err := e.mapping(o.GroupVersionKind())
	if o.GetNamespace() == "" && (namespaced || err != nil) {
		namespace, _, _ := unstructured.NestedString(app.Object, "spec", "destination", "namespace")
		o.SetNamespace(namespace)
	}
	annotate(o, trackingID, trackedAs(app, o))
}

// asDecoded gives objects the types of decoded JSON, which everything that copies or compares them expects.
func asDecoded(rendered []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	decoded := make([]*unstructured.Unstructured, len(rendered))
	for i, o := range rendered {
		text, err := json.Marshal(o)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
		decoded[i] = &unstructured.Unstructured{}
		if err := json.Unmarshal(text, decoded[i]); err != nil {
			return nil, fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return decoded, nil
}
