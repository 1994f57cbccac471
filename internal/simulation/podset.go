package simulation

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// stepPodSet does one move of a workload that controls its pods itself, a StatefulSet or a DaemonSet: one pod at a time is
// made or replaced, and the next one only when all the others are ready. The simulated cluster has a single node.
func (s *Simulation) stepPodSet(ctx context.Context, w *unstructured.Unstructured, f family) error {
	hash, err := templateHash(w)
	if err != nil {
		return err
	}
	replicas := replicasOf(w)
	if w.GetKind() == "DaemonSet" {
		replicas = 1
	}
	found := map[string]*unstructured.Unstructured{}
	for _, p := range f.pods[w.GetUID()] {
		found[p.GetName()] = p
	}
	if err := s.movePod(ctx, w, found, hash, replicas); err != nil {
		return err
	}
	podSetStatus(w, found, hash, replicas)
	_, err = s.update(ctx, w)
	return err
}

// movePod makes the first missing pod or lets go of one: a surplus one, else the last of those of an older template.
func (s *Simulation) movePod(ctx context.Context, w *unstructured.Unstructured, found map[string]*unstructured.Unstructured, hash string, replicas int) error {
	var leaving *unstructured.Unstructured
	for i := range replicas {
		name := fmt.Sprintf("%s-%d", w.GetName(), i)
		p, there := found[name]
		if !there {
			p = newPod(w, w, hash)
			p.SetName(name)
			created, err := s.create(ctx, p)
			if err == nil {
				found[name] = created
			}
			return err
		}
		old := p.GetLabels()[podTemplate] != hash
		if !isReady(p) && !old {
			return nil
		}
		if old {
			leaving = p
		}
	}
	for i := replicas; i < len(found); i++ {
		if p, there := found[fmt.Sprintf("%s-%d", w.GetName(), i)]; there {
			leaving = p
		}
	}
	if leaving == nil {
		return nil
	}
	delete(found, leaving.GetName())
	return s.remove(ctx, leaving)
}

func podSetStatus(w *unstructured.Unstructured, found map[string]*unstructured.Unstructured, hash string, replicas int) {
	var total, ready, updated int64
	for _, p := range found {
		total++
		if isReady(p) {
			ready++
		}
		if p.GetLabels()[podTemplate] == hash {
			updated++
		}
	}
	status := statusOf(w)
	status["observedGeneration"] = w.GetGeneration()
	if w.GetKind() == "DaemonSet" {
		status["desiredNumberScheduled"], status["currentNumberScheduled"] = int64(replicas), total
		status["updatedNumberScheduled"], status["numberReady"], status["numberAvailable"] = updated, ready, ready
		return
	}
	revision := w.GetName() + "-" + hash
	status["replicas"], status["updatedReplicas"], status["readyReplicas"], status["availableReplicas"] = total, updated, ready, ready
	status["updateRevision"], status["currentReplicas"] = revision, total-updated
	if updated == int64(replicas) && ready == updated && total == updated {
		status["currentRevision"], status["currentReplicas"] = revision, updated
	}
}
