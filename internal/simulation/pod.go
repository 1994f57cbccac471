package simulation

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// stepPod takes a pod one step further: image pulled, running, ready; or it fails to.
func (s *Simulation) stepPod(ctx context.Context, p *unstructured.Unstructured, before map[string]any) error {
	status := mapAt(p.Object, "status")
	if isReady(p.Object) {
		return nil
	}
	containers, _, _ := unstructured.NestedSlice(p.Object, "spec", "containers")
	known, _ := status["containerStatuses"].([]any)
	var statuses []any
	ready := true
	for i, c := range containers {
		container, _ := c.(map[string]any)
		var last map[string]any
		if i < len(known) {
			last, _ = known[i].(map[string]any)
		}
		next := s.stepContainer(ctx, container, last)
		statuses = append(statuses, next)
		ready = ready && next["ready"] == true
	}
	status["containerStatuses"] = statuses
	status["phase"] = "Pending"
	if slices.ContainsFunc(statuses, func(c any) bool { return c.(map[string]any)["imageID"] != "" }) {
		status["phase"] = "Running"
	}
	status["conditions"] = []any{map[string]any{"type": "Ready", "status": map[bool]string{true: "True", false: "False"}[ready]}}
	if reflect.DeepEqual(p.Object, before) {
		return nil
	}
	return s.update(ctx, p)
}

func (s *Simulation) stepContainer(ctx context.Context, container, last map[string]any) map[string]any {
	image := fmt.Sprint(container["image"])
	next := map[string]any{"name": container["name"], "image": image, "imageID": "", "ready": false, "restartCount": int64(0)}
	if last == nil {
		next["state"] = waiting("ContainerCreating", "")
		return next
	}
	pulled, err := s.Pull(ctx, image)
	switch {
	case err != nil:
		reason := "ErrImagePull"
		if reasonOf(last) == "ErrImagePull" {
			reason = "ImagePullBackOff"
		}
		next["state"] = waiting(reason, err.Error())
	case pulled.Crashes:
		restarts, _ := last["restartCount"].(int64)
		next["imageID"], next["restartCount"] = pulled.ID, min(restarts+1, 5)
		next["state"] = waiting("CrashLoopBackOff", "back-off restarting failed container")
		next["lastState"] = map[string]any{"terminated": map[string]any{"exitCode": int64(1), "reason": "Error"}}
	case last["imageID"] == "":
		next["imageID"], next["state"] = pulled.ID, map[string]any{"running": map[string]any{"startedAt": s.stamp()}}
	default:
		next["imageID"], next["state"], next["ready"] = pulled.ID, last["state"], true
	}
	return next
}

func waiting(reason, message string) map[string]any {
	return map[string]any{"waiting": map[string]any{"reason": reason, "message": message}}
}

func reasonOf(status map[string]any) string {
	reason, _, _ := unstructured.NestedString(status, "state", "waiting", "reason")
	return reason
}

func isReady(pod map[string]any) bool {
	conditions, _, _ := unstructured.NestedSlice(pod, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		m, _ := c.(map[string]any)
		return m["type"] == "Ready" && m["status"] == "True"
	})
}
