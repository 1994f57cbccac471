package cluster

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// engineRights finds out whether the account that Argo CD syncs with may apply what a sync applies. A dry run is made by Sluice's
// account and does not tell.
type engineRights struct {
	Inspector
	known   map[access]bool
	unknown error // what was in the way of asking; it would be in the way of the next question too
}

// refusal says what Argo CD's account may not do with an object; empty when it may apply it, and when that is unknown.
func (r *engineRights) refusal(ctx context.Context, o *unstructured.Unstructured) string {
	if r.Account == "" || r.Kinds == nil {
		return ""
	}
	mapping, err := r.mapping(o.GroupVersionKind())
	if err != nil {
		return "" // the dry run has said so
	}
	verbs := []string{"get", "patch"}
	if r.absent(ctx, o, mapping) {
		verbs = []string{"get", "create"}
	}
	for _, verb := range verbs {
		may := r.may(ctx, access{verb, mapping.Resource.Group, mapping.Resource.Resource, o.GetNamespace(), o.GetName()})
		if !may && r.unknown == nil {
			return fmt.Sprintf("Argo CD's account %s may not %s %s: give it that right", r.Account, verb, mapping.Resource.GroupResource())
		}
	}
	return ""
}

// absent tells whether the sync would create the object.
func (r *engineRights) absent(ctx context.Context, o *unstructured.Unstructured, mapping *meta.RESTMapping) bool {
	_, err := r.Client.Resource(mapping.Resource).Namespace(o.GetNamespace()).Get(ctx, o.GetName(), metav1.GetOptions{})
	return apierrors.IsNotFound(err)
}

// may asks for any name first, which answers for all objects of a kind at once.
func (r *engineRights) may(ctx context.Context, a access) bool {
	every := a
	every.name = ""
	if _, asked := r.known[every]; !asked {
		r.known[every] = r.ask(ctx, every)
	}
	if r.known[every] || a.verb == "create" { // RBAC cannot allow a creation by name
		return r.known[every]
	}
	return r.ask(ctx, a)
}

func (r *engineRights) ask(ctx context.Context, a access) bool {
	if r.unknown != nil {
		return false
	}
	may, err := mayAccount(ctx, r.Client, r.Account, a)
	r.unknown = err
	return may
}

// unchecked says why it is not known; empty when it is.
func (r *engineRights) unchecked() string {
	if r.unknown == nil {
		return ""
	}
	why := firstLine(r.unknown)
	if refusedToUs(r.unknown) {
		why = "Sluice's account may not ask; let it create subjectaccessreviews"
	}
	return fmt.Sprintf("what Argo CD's account %s may do: %s", r.Account, why)
}
