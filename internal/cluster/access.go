package cluster

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// The questions about rights that an API server answers.
var (
	selfReviews    = schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}
	accountReviews = schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "subjectaccessreviews"}
)

// access is something that an account may do or not.
type access struct {
	verb, group, resource string // a resource below another is written pods/log
	namespace             string // empty: in all of them, or the resource has none
	name                  string // empty: with any
}

func (a access) attributes() map[string]any {
	resource, below, _ := strings.Cut(a.resource, "/")
	return map[string]any{"verb": a.verb, "group": a.group, "resource": resource, "subresource": below, "namespace": a.namespace, "name": a.name}
}

// mayWe asks what Sluice's own account may do; everybody may ask that.
func mayWe(ctx context.Context, client dynamic.Interface, a access) (bool, error) {
	return review(ctx, client, selfReviews, "SelfSubjectAccessReview", map[string]any{"resourceAttributes": a.attributes()})
}

// mayAccount asks what a service account, as namespace/name, may do.
func mayAccount(ctx context.Context, client dynamic.Interface, account string, a access) (bool, error) {
	namespace, name, _ := strings.Cut(account, "/")
	return review(ctx, client, accountReviews, "SubjectAccessReview", map[string]any{
		"user":               "system:serviceaccount:" + namespace + ":" + name,
		"groups":             []any{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
		"resourceAttributes": a.attributes(),
	})
}

func review(ctx context.Context, client dynamic.Interface, at schema.GroupVersionResource, kind string, spec map[string]any) (bool, error) {
	question := &unstructured.Unstructured{Object: map[string]any{"apiVersion": at.GroupVersion().String(), "kind": kind, "spec": spec}}
	answer, err := client.Resource(at).Create(ctx, question, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	allowed, _, _ := unstructured.NestedBool(answer.Object, "status", "allowed")
	if trouble, _, _ := unstructured.NestedString(answer.Object, "status", "evaluationError"); trouble != "" && !allowed {
		return false, fmt.Errorf("the API server could not tell: %s", trouble)
	}
	return allowed, nil
}
