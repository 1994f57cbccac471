package simulation

import (
	"encoding/json"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// Annotations that Argo CD and client-side apply leave on objects.
const (
	trackingID  = "argocd.argoproj.io/tracking-id"
	lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
)

// merged is the live object after a client-side apply of the rendered one: a three-way merge with what was applied last, in which
// lists of built-in kinds are merged by their elements' names, as kubectl does. What an API server filled in stays.
func merged(live, rendered *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	wanted := rendered.DeepCopy()
	if err := rememberApplied(wanted, rendered); err != nil {
		return nil, err
	}
	modified, err := json.Marshal(wanted.Object)
	if err != nil {
		return nil, err
	}
	current, err := json.Marshal(live.Object)
	if err != nil {
		return nil, err
	}
	next, err := threeWay([]byte(live.GetAnnotations()[lastApplied]), modified, current, live)
	if err != nil {
		return nil, fmt.Errorf("merge %s %s: %w", live.GetKind(), live.GetName(), err)
	}
	o := &unstructured.Unstructured{}
	return o, o.UnmarshalJSON(next)
}

func threeWay(original, modified, current []byte, live *unstructured.Unstructured) ([]byte, error) {
	typed, err := scheme.Scheme.New(live.GroupVersionKind())
	if err != nil { // of a kind that only its definition knows
		if len(original) == 0 {
			original = []byte("{}")
		}
		patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(original, modified, current)
		if err != nil {
			return nil, err
		}
		return jsonpatch.MergePatch(current, patch)
	}
	lists, err := strategicpatch.NewPatchMetaFromStruct(typed)
	if err != nil {
		return nil, err
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(original, modified, current, lists, true)
	if err != nil {
		return nil, err
	}
	return strategicpatch.StrategicMergePatchUsingLookupPatchMeta(current, patch, lists)
}

// rememberApplied notes on an object what of it was rendered.
func rememberApplied(o, rendered *unstructured.Unstructured) error {
	text, err := json.Marshal(rendered.Object)
	if err != nil {
		return err
	}
	annotate(o, lastApplied, string(text))
	return nil
}

func annotate(o *unstructured.Unstructured, key, value string) {
	annotations := maps.Clone(o.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	o.SetAnnotations(annotations)
}

func without(annotations map[string]string, key string) map[string]string {
	annotations = maps.Clone(annotations)
	delete(annotations, key)
	return annotations
}

// overlay writes fields over those of a map. Lists are replaced whole.
func overlay(live, written map[string]any) {
	for key, value := range written {
		inner, isMap := value.(map[string]any)
		current, hasMap := live[key].(map[string]any)
		if isMap && hasMap {
			overlay(current, inner)
			continue
		}
		live[key] = value
	}
}

func copied(m map[string]any) map[string]any { return runtime.DeepCopyJSON(m) }
