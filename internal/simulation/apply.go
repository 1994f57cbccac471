package simulation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// applyObject applies client-side, or server-side as the same manager: what is rendered wins, what an earlier apply wrote and is
// rendered no more goes, other fields stay.
func (e *Engine) applyObject(ctx context.Context, o *unstructured.Unstructured, serverSide bool) (message string, err error) {
	name := strings.ToLower(o.GroupVersionKind().GroupKind().String()) + "/" + o.GetName()
	if serverSide {
		return name + " serverside-applied", e.applyServerSide(ctx, o)
	}
	live, err := e.live(ctx, o)
	if apierrors.IsNotFound(err) {
		fresh := o.DeepCopy()
		if err := rememberApplied(fresh, o); err != nil {
			return "", err
		}
		_, err = e.create(ctx, fresh)
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
	_, err = e.update(ctx, next)
	return name + " configured", err
}

func (e *Engine) applyServerSide(ctx context.Context, o *unstructured.Unstructured) error {
	at, err := e.at(o)
	if err != nil {
		return err
	}
	text, err := json.Marshal(o.Object)
	if err != nil {
		return err
	}
	force := true
	_, err = at.Patch(ctx, o.GetName(), types.ApplyPatchType, text, metav1.PatchOptions{FieldManager: manager(o), Force: &force})
	return err
}

// isApplied tells whether applying would change nothing.
func (e *Engine) isApplied(ctx context.Context, o *unstructured.Unstructured) (bool, error) {
	live, err := e.live(ctx, o)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	next, err := merged(live, o)
	if err != nil {
		return false, nil //nolint:nilerr // what cannot be applied is not
	}
	next.SetAnnotations(without(next.GetAnnotations(), lastApplied))
	live.SetAnnotations(without(live.GetAnnotations(), lastApplied))
	return equality.Semantic.DeepEqual(next.Object, live.Object), nil
}

// refused is what the API server has against an object, empty if the error is about something else. A conflict is of a moment; a webhook
// that does not answer is an internal error of the API server.
func refused(err error) string {
	var said apierrors.APIStatus
	if errors.As(err, &said) && !apierrors.IsConflict(err) && said.Status().Code >= 400 && said.Status().Code < 500 {
		return err.Error()
	}
	if apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed calling webhook") {
		return err.Error()
	}
	return ""
}

// unserved is what Argo CD says of an object of a kind that the API server does not serve.
func (e *Engine) unserved(o *unstructured.Unstructured) string {
	_, _, err := e.mapping(o.GroupVersionKind())
	if !meta.IsNoMatchError(err) {
		return ""
	}
	kind := o.GroupVersionKind()
	if other, err := e.mapper.RESTMapping(kind.GroupKind()); err == nil {
		return fmt.Sprintf("The Kubernetes API could not find version %q of %s/%s for requested resource %s/%s. Version %q of %s/%s is installed on the destination cluster.",
			kind.Version, kind.Group, kind.Kind, o.GetNamespace(), o.GetName(), other.Resource.Version, kind.Group, kind.Kind)
	}
	return fmt.Sprintf("The Kubernetes API could not find %s/%s for requested resource %s/%s. Make sure the %q CRD is installed on the destination cluster.",
		kind.Group, kind.Kind, o.GetNamespace(), o.GetName(), kind.Kind)
}
