package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Inspector reads a cluster's objects as they are, and asks the API server for dry runs. It writes nothing.
type Inspector struct {
	Name   string
	Client dynamic.Interface
	// Kinds tells how a kind's objects are reached. Nil: plural and scope are guessed, which is right for what Kubernetes
	// itself has.
	Kinds meta.RESTMapper
	// Account is whom Argo CD syncs as, as namespace/name of a service account. Empty: what it may do is not asked.
	Account string
}

var _ promotion.Inspector = Inspector{}

// errUnserved: the API server does not know the kind.
var errUnserved = errors.New("the cluster does not serve this kind")

// clusterWide are the kinds of Kubernetes itself that live in no namespace, for a guess.
var clusterWide = []string{"Namespace", "Node", "PersistentVolume", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "StorageClass",
	"PriorityClass", "IngressClass", "RuntimeClass", "APIService", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
	"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "CSIDriver"}

// at is where an object of a kind is, in a namespace if it is in one.
func (i Inspector) at(kind schema.GroupVersionKind, namespace string) (dynamic.ResourceInterface, error) {
	if i.Kinds == nil {
		plural, _ := meta.UnsafeGuessKindToResource(kind)
		if slices.Contains(clusterWide, kind.Kind) {
			return i.Client.Resource(plural), nil
		}
		return i.Client.Resource(plural).Namespace(namespace), nil
	}
	mapping, err := i.mapping(kind)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return i.Client.Resource(mapping.Resource), nil
	}
	return i.Client.Resource(mapping.Resource).Namespace(namespace), nil
}

// mapping asks again what is served when a kind is not known: a definition may have been added since.
func (i Inspector) mapping(kind schema.GroupVersionKind) (*meta.RESTMapping, error) {
	mapping, err := i.Kinds.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		meta.MaybeResetRESTMapper(i.Kinds)
		mapping, err = i.Kinds.RESTMapping(kind.GroupKind(), kind.Version)
	}
	if meta.IsNoMatchError(err) {
		return nil, errUnserved
	}
	return mapping, err
}

// placed are the rendered objects in the namespace that they go to.
func placed(want promotion.Desired) []*unstructured.Unstructured {
	all := make([]*unstructured.Unstructured, len(want.Objects))
	for i, content := range want.Objects {
		o := (&unstructured.Unstructured{Object: content}).DeepCopy()
		if o.GetNamespace() == "" && !slices.Contains(clusterWide, o.GetKind()) {
			o.SetNamespace(want.Namespace)
		}
		all[i] = o
	}
	return all
}

func (i Inspector) application(ctx context.Context, key promotion.DeploymentKey) (*unstructured.Unstructured, error) {
	app, err := i.Client.Resource(Applications).Namespace(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("the Argo CD Application %s is gone: %w", key.Name, promotion.ErrNotFound)
	} else if err != nil {
		return nil, fmt.Errorf("read the Argo CD Application %s in cluster %s: %w", key.Name, i.Name, err)
	}
	return app, nil
}

// nameOfObject is an object for people.
func nameOfObject(o *unstructured.Unstructured) string {
	kind := o.GroupVersionKind()
	name := kind.Kind
	if kind.Group != "" {
		name += "." + kind.Group
	}
	if o.GetNamespace() != "" {
		return name + " " + o.GetNamespace() + "/" + o.GetName()
	}
	return name + " " + o.GetName()
}
