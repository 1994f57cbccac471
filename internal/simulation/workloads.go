package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
)

// stepWorkloads moves pods first, as nodes do, then the workloads that wait for them.
func (s *Simulation) stepWorkloads(ctx context.Context) error {
	var workloads []unstructured.Unstructured
	for _, kind := range []schema.GroupVersionResource{deployments, statefulSets, daemonSets} {
		found, err := s.list(ctx, kind)
		if err != nil {
			return err
		}
		workloads = append(workloads, found...)
	}
	if err := s.collectGarbage(ctx, workloads); err != nil {
		return err
	}
	running, err := s.list(ctx, pods)
	if err != nil {
		return err
	}
	for i := range running {
		if err := s.stepPod(ctx, &running[i]); err != nil {
			return fmt.Errorf("pod %s: %w", running[i].GetName(), err)
		}
	}
	f, err := s.family(ctx)
	if err != nil {
		return err
	}
	for i := range workloads {
		step := s.stepPodSet
		if workloads[i].GetKind() == "Deployment" {
			step = s.stepDeployment
		}
		if err := step(ctx, &workloads[i], f); err != nil {
			return fmt.Errorf("%s %s: %w", workloads[i].GetKind(), workloads[i].GetName(), err)
		}
	}
	return nil
}

// templateHash names a pod template: the same template is the same ReplicaSet.
func templateHash(workload *unstructured.Unstructured) (string, error) {
	template, _, _ := unstructured.NestedFieldNoCopy(workload.Object, "spec", "template")
	text, err := json.Marshal(template)
	if err != nil {
		return "", err
	}
	h := fnv.New32a()
	_, _ = h.Write(text) // a hash never fails to take bytes
	return rand.SafeEncodeString(fmt.Sprint(h.Sum32())), nil
}

func replicasOf(workload *unstructured.Unstructured) int {
	replicas, found, _ := unstructured.NestedInt64(workload.Object, "spec", "replicas")
	if !found {
		return 1
	}
	return int(replicas)
}

// newPod is a pod of the workload's template that the owner controls.
func newPod(workload, owner *unstructured.Unstructured, hash string) *unstructured.Unstructured {
	template, _, _ := unstructured.NestedMap(workload.Object, "spec", "template")
	pod := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod",
		"metadata": below(template, "metadata"), "spec": template["spec"], "status": map[string]any{"phase": "Pending"}}}
	pod.SetLabels(labelled(pod.GetLabels(), hash))
	pod.SetGenerateName(owner.GetName() + "-")
	pod.SetNamespace(workload.GetNamespace())
	pod.SetOwnerReferences(controlledBy(owner))
	return pod
}

// podTemplate is the label that tells which template a pod was made from.
const podTemplate = "pod-template-hash"

func labelled(labels map[string]string, hash string) map[string]string {
	if labels == nil {
		labels = map[string]string{}
	}
	labels[podTemplate] = hash
	return labels
}
