package simulation

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// family is who controls whom: ReplicaSets and pods by the uid of their controller.
type family struct {
	sets, pods map[types.UID][]*unstructured.Unstructured
}

func (a api) family(ctx context.Context) (family, error) {
	f := family{map[types.UID][]*unstructured.Unstructured{}, map[types.UID][]*unstructured.Unstructured{}}
	sets, err := a.list(ctx, replicaSets)
	if err != nil {
		return f, err
	}
	for i := range sets {
		f.sets[controllerOf(&sets[i])] = append(f.sets[controllerOf(&sets[i])], &sets[i])
	}
	found, err := a.list(ctx, pods)
	for i := range found {
		f.pods[controllerOf(&found[i])] = append(f.pods[controllerOf(&found[i])], &found[i])
	}
	return f, err
}

// podsOf are a workload's pods, whether it controls them itself or through ReplicaSets.
func (f family) podsOf(workload types.UID) []*unstructured.Unstructured {
	all := f.pods[workload]
	for _, set := range f.sets[workload] {
		all = append(all, f.pods[set.GetUID()]...)
	}
	return all
}

func controllerOf(o *unstructured.Unstructured) types.UID {
	if c := metav1.GetControllerOfNoCopy(o); c != nil {
		return c.UID
	}
	return ""
}

func controlledBy(o *unstructured.Unstructured) []metav1.OwnerReference {
	return []metav1.OwnerReference{*metav1.NewControllerRef(o, o.GroupVersionKind())}
}

// collectGarbage deletes ReplicaSets and pods whose controller is gone.
func (s *Simulation) collectGarbage(ctx context.Context, workloads []unstructured.Unstructured) error {
	f, err := s.family(ctx)
	if err != nil {
		return err
	}
	alive := map[types.UID]bool{}
	for _, w := range workloads {
		alive[w.GetUID()] = true
		for _, set := range f.sets[w.GetUID()] {
			alive[set.GetUID()] = true
		}
	}
	for _, generation := range []map[types.UID][]*unstructured.Unstructured{f.pods, f.sets} {
		for controller, children := range generation {
			if alive[controller] {
				continue
			}
			for _, o := range children {
				if err := s.remove(ctx, o); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
