package simulation

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// progressDeadline is how long a rollout may make no progress.
const progressDeadline = 10 * time.Second

// stepWorkloads moves pods first, as nodes do, then the Deployments that wait for them.
func (s *Simulation) stepWorkloads(ctx context.Context) error {
	pods, err := s.list(ctx, "Pod")
	if err != nil {
		return err
	}
	for i := range pods {
		if err := s.stepPod(ctx, pods[i].DeepCopy(), pods[i].Object); err != nil {
			return fmt.Errorf("pod %s: %w", pods[i].GetName(), err)
		}
	}
	deployments, err := s.list(ctx, "Deployment")
	if err != nil {
		return err
	}
	for i := range deployments {
		if err := s.stepDeployment(ctx, deployments[i].DeepCopy(), deployments[i].Object); err != nil {
			return fmt.Errorf("deployment %s: %w", deployments[i].GetName(), err)
		}
	}
	return nil
}

// stepDeployment does one move of a rolling update: at most one pod more, at most one pod fewer.
func (s *Simulation) stepDeployment(ctx context.Context, d *unstructured.Unstructured, before map[string]any) error {
	hash, err := templateHash(d)
	if err != nil {
		return err
	}
	set, err := s.ensureReplicaSet(ctx, d, hash)
	if err != nil {
		return err
	}
	pods, err := s.podsOf(ctx, d)
	if err != nil {
		return err
	}
	var fresh, old []unstructured.Unstructured
	available := 0
	for _, p := range pods {
		if p.GetLabels()["pod-template-hash"] == hash {
			fresh = append(fresh, p)
		} else {
			old = append(old, p)
		}
		if isReady(p.Object) {
			available++
		}
	}
	replicas := int(replicasOf(d))
	switch {
	case len(fresh) < replicas && len(pods) < replicas+1:
		if err := s.createPod(ctx, d, set, hash); err != nil {
			return err
		}
	case len(old) > 0 && (available > replicas || !isReady(old[0].Object)):
		slices.SortFunc(old, func(a, b unstructured.Unstructured) int { return cmp.Compare(rank(a), rank(b)) })
		if err := s.remove(ctx, &old[0]); err != nil {
			return err
		}
	case len(fresh) > replicas:
		if err := s.remove(ctx, &fresh[len(fresh)-1]); err != nil {
			return err
		}
	}
	s.deploymentStatus(d, hash, len(pods), fresh, available)
	if reflect.DeepEqual(d.Object, before) {
		return nil
	}
	return s.update(ctx, d)
}

// rank puts pods that do not work first, since they are the first to go.
func rank(p unstructured.Unstructured) string {
	return strconv.FormatBool(isReady(p.Object)) + p.GetName()
}

func templateHash(d *unstructured.Unstructured) (string, error) {
	template, _, _ := unstructured.NestedMap(d.Object, "spec", "template")
	text, err := json.Marshal(template)
	if err != nil {
		return "", err
	}
	h := fnv.New32a()
	_, _ = h.Write(text) // a hash never fails to take bytes
	return strconv.FormatUint(uint64(h.Sum32()), 36), nil
}

func replicasOf(d *unstructured.Unstructured) int64 {
	v, found, _ := unstructured.NestedFieldNoCopy(d.Object, "spec", "replicas")
	if !found {
		return 1
	}
	switch n := v.(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return 1
}

func (s *Simulation) ensureReplicaSet(ctx context.Context, d *unstructured.Unstructured, hash string) (*unstructured.Unstructured, error) {
	gvr, _ := resource("ReplicaSet")
	name := d.GetName() + "-" + hash
	set, err := s.client.Resource(gvr).Namespace(d.GetNamespace()).Get(ctx, name, metav1.GetOptions{})
	if err == nil || !apierrors.IsNotFound(err) {
		return set, err
	}
	template, _, _ := unstructured.NestedMap(d.Object, "spec", "template")
	set = &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "ReplicaSet", "spec": map[string]any{"template": template}}}
	set.SetName(name)
	set.SetNamespace(d.GetNamespace())
	set.SetUID(types.UID("ReplicaSet/" + d.GetNamespace() + "/" + name))
	set.SetLabels(map[string]string{"pod-template-hash": hash})
	set.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: d.GetName(), UID: d.GetUID()}})
	return set, s.create(ctx, set)
}

func (s *Simulation) podsOf(ctx context.Context, d *unstructured.Unstructured) ([]unstructured.Unstructured, error) {
	all, err := s.list(ctx, "Pod")
	return slices.DeleteFunc(all, func(p unstructured.Unstructured) bool {
		owner := metav1.GetControllerOfNoCopy(&p)
		return owner == nil || p.GetNamespace() != d.GetNamespace() || !strings.HasPrefix(owner.Name, d.GetName()+"-") ||
			strings.Contains(strings.TrimPrefix(owner.Name, d.GetName()+"-"), "-")
	}), err
}

func (s *Simulation) createPod(ctx context.Context, d, set *unstructured.Unstructured, hash string) error {
	spec, _, _ := unstructured.NestedMap(d.Object, "spec", "template", "spec")
	labels, _, _ := unstructured.NestedStringMap(d.Object, "spec", "template", "metadata", "labels")
	if labels == nil {
		labels = map[string]string{}
	}
	labels["pod-template-hash"] = hash
	number, _, _ := unstructured.NestedInt64(d.Object, "status", "podsMade")
	if err := unstructured.SetNestedField(d.Object, number+1, "status", "podsMade"); err != nil {
		return err
	}
	pod := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": spec,
		"status": map[string]any{"phase": "Pending"}}}
	controller := true
	pod.SetName(fmt.Sprintf("%s-%05d", set.GetName(), number))
	pod.SetNamespace(d.GetNamespace())
	pod.SetUID(types.UID("Pod/" + d.GetNamespace() + "/" + pod.GetName()))
	pod.SetLabels(labels)
	pod.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: set.GetName(), UID: set.GetUID(), Controller: &controller}})
	return s.create(ctx, pod)
}

// deploymentStatus counts, and notes since when the rollout makes no progress.
func (s *Simulation) deploymentStatus(d *unstructured.Unstructured, hash string, total int, fresh []unstructured.Unstructured, available int) {
	status := mapAt(d.Object, "status")
	ready := 0
	for _, p := range fresh {
		if isReady(p.Object) {
			ready++
		}
	}
	replicas := int(replicasOf(d))
	progress := fmt.Sprintf("%s %d %d %d", hash, len(fresh), ready, total)
	if status["progress"] != progress {
		status["progress"], status["progressAt"] = progress, s.stamp()
	}
	condition := map[string]any{"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated"}
	switch {
	case ready == replicas && total == replicas:
		condition["reason"] = "NewReplicaSetAvailable"
	case s.stalled(status):
		condition["status"], condition["reason"] = "False", "ProgressDeadlineExceeded"
		condition["message"] = fmt.Sprintf("ReplicaSet %q has timed out progressing.", d.GetName()+"-"+hash)
	}
	status["observedGeneration"] = d.GetGeneration()
	status["replicas"], status["updatedReplicas"] = int64(total), int64(len(fresh))
	status["readyReplicas"], status["availableReplicas"] = int64(available), int64(available)
	status["conditions"] = []any{condition}
}

func (s *Simulation) stalled(status map[string]any) bool {
	since, err := time.Parse(time.RFC3339, fmt.Sprint(status["progressAt"]))
	return err == nil && s.Now().Sub(since) > progressDeadline
}
