package simulation

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// The resources that the stand-ins look for.
var (
	applications = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications"}
	appProjects  = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "appprojects"}
	deployments  = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	statefulSets = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
	daemonSets   = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "daemonsets"}
	replicaSets  = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}
	pods         = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

// api is an API server as the stand-ins use it.
type api struct {
	client dynamic.Interface
	mapper meta.RESTMapper // nil: a kind's plural is guessed, and all live in namespaces
	now    func() time.Time
}

func (a api) list(ctx context.Context, gvr schema.GroupVersionResource) ([]unstructured.Unstructured, error) {
	list, err := a.client.Resource(gvr).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", gvr.Resource, err)
	}
	return list.Items, nil
}

// mapping is where a kind is served. A kind that is not is an error of which meta.IsNoMatchError is true.
func (a api) mapping(kind schema.GroupVersionKind) (resource schema.GroupVersionResource, namespaced bool, err error) {
	if a.mapper == nil {
		return resourceOf(kind), true, nil
	}
	found, err := a.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) { // it may have been made known since
		meta.MaybeResetRESTMapper(a.mapper)
		found, err = a.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	}
	if err != nil {
		return schema.GroupVersionResource{}, false, err
	}
	return found.Resource, found.Scope.Name() == meta.RESTScopeNameNamespace, nil
}

// at is the interface to the objects of this one's kind and namespace.
func (a api) at(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	resource, namespaced, err := a.mapping(o.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	if !namespaced {
		return a.client.Resource(resource), nil
	}
	return a.client.Resource(resource).Namespace(o.GetNamespace()), nil
}

// live is an object as it is in the cluster.
func (a api) live(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	at, err := a.at(o)
	if err != nil {
		return nil, err
	}
	return at.Get(ctx, o.GetName(), metav1.GetOptions{})
}

func (a api) create(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	at, err := a.at(o)
	if err != nil {
		return nil, err
	}
	return at.Create(ctx, o, metav1.CreateOptions{FieldManager: manager(o)})
}

func (a api) update(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	at, err := a.at(o)
	if err != nil {
		return nil, err
	}
	return at.Update(ctx, o, metav1.UpdateOptions{FieldManager: manager(o)})
}

func (a api) remove(ctx context.Context, o *unstructured.Unstructured) error {
	at, err := a.at(o)
	if err != nil {
		return err
	}
	background := metav1.DeletePropagationBackground
	return at.Delete(ctx, o.GetName(), metav1.DeleteOptions{PropagationPolicy: &background})
}

// manager is who Argo CD says writes an object.
func manager(o *unstructured.Unstructured) string {
	if o.GetKind() == "Application" {
		return "argocd-application-controller"
	}
	return "argocd-controller"
}

func (a api) stamp() string { return a.now().UTC().Format(time.RFC3339) }
