package simulation

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// progressDeadline is how long a rollout may make no progress where the Deployment does not say. Kubernetes' default
// of ten minutes is long for a demo.
const progressDeadline = 10 * time.Second

// deploymentStatus counts, and notes since when the rollout makes no progress.
func (s *Simulation) deploymentStatus(r *rollout) {
	status := statusOf(r.deployment)
	ready, total := count(r.fresh, isReady)+count(r.old, isReady), len(r.fresh)+len(r.old)
	before := copied(status)
	status["observedGeneration"] = r.deployment.GetGeneration()
	status["replicas"], status["updatedReplicas"] = int64(total), int64(len(r.fresh))
	status["readyReplicas"], status["availableReplicas"] = int64(ready), int64(ready)
	available := map[string]any{"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable"}
	if ready >= r.minAvailable {
		available["status"], available["reason"] = "True", "MinimumReplicasAvailable"
	}
	status["conditions"] = []any{available, s.progressing(r, before, status)}
}

func (s *Simulation) progressing(r *rollout, before, now map[string]any) map[string]any {
	last := condition(before, "Progressing")
	next := map[string]any{"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated",
		"message": fmt.Sprintf("ReplicaSet %q is progressing.", r.set.GetName()), "lastUpdateTime": last["lastUpdateTime"]}
	whole := int64(r.replicas)
	switch {
	case now["updatedReplicas"] == whole && now["replicas"] == whole && now["availableReplicas"] == whole:
		next["reason"], next["message"] = "NewReplicaSetAvailable", fmt.Sprintf("ReplicaSet %q has successfully progressed.", r.set.GetName())
		if last["reason"] != next["reason"] {
			next["lastUpdateTime"] = s.stamp()
		}
	case last == nil || last["reason"] == "NewReplicaSetAvailable" || before["observedGeneration"] != now["observedGeneration"] || advanced(before, now):
		next["lastUpdateTime"] = s.stamp()
	case last["reason"] == "ProgressDeadlineExceeded" || s.stalled(r, last):
		next["status"], next["reason"] = "False", "ProgressDeadlineExceeded"
		next["message"] = fmt.Sprintf("ReplicaSet %q has timed out progressing.", r.set.GetName())
	}
	return next
}

// advanced: more new pods, more available ones, or fewer old ones.
func advanced(before, now map[string]any) bool {
	count := func(status map[string]any, field string) int64 {
		n, _ := status[field].(int64)
		return n
	}
	old := func(status map[string]any) int64 { return count(status, "replicas") - count(status, "updatedReplicas") }
	return count(now, "updatedReplicas") > count(before, "updatedReplicas") ||
		count(now, "availableReplicas") > count(before, "availableReplicas") || old(now) < old(before)
}

func (s *Simulation) stalled(r *rollout, last map[string]any) bool {
	deadline := progressDeadline
	if seconds, set, _ := unstructured.NestedInt64(r.deployment.Object, "spec", "progressDeadlineSeconds"); set {
		deadline = time.Duration(seconds) * time.Second
	}
	since, err := time.Parse(time.RFC3339, fmt.Sprint(last["lastUpdateTime"]))
	return err == nil && s.Now().Sub(since) > deadline
}

// condition is a status's condition of a type, nil if there is none.
func condition(status map[string]any, kind string) map[string]any {
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		if m, _ := c.(map[string]any); m["type"] == kind {
			return m
		}
	}
	return nil
}
