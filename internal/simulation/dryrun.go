package simulation

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Apply implements dynamic.ResourceInterface, for dry runs only: it answers what the simulated engine's apply would make of
// the object, and stores nothing.
func (r *objects) Apply(_ context.Context, name string, o *unstructured.Unstructured, options metav1.ApplyOptions, _ ...string) (*unstructured.Unstructured, error) {
	if !slices.Equal(options.DryRun, []string{metav1.DryRunAll}) {
		return nil, r.unsupported("server-side apply")
	}
	live, err := r.store.get(r.key(name))
	if apierrors.IsNotFound(err) {
		return merged(&unstructured.Unstructured{Object: map[string]any{}}, o)
	} else if err != nil {
		return nil, err
	}
	next, err := merged(live, o)
	if err != nil {
		return nil, err
	}
	return next, keepsSelector(live, next)
}
