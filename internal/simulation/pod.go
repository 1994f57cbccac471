package simulation

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// stepPod takes a pod one step further: images pulled, running, ready; or it fails to. What is ready stays so.
func (s *Simulation) stepPod(ctx context.Context, p *unstructured.Unstructured) error {
	if isReady(p) {
		return nil
	}
	status := statusOf(p)
	initialised, err := s.stepContainers(ctx, p, "initContainers", "initContainerStatuses", s.stepInit)
	if err != nil {
		return err
	}
	ready := false
	if initialised {
		if ready, err = s.stepContainers(ctx, p, "containers", "containerStatuses", s.stepContainer); err != nil {
			return err
		}
	}
	status["phase"] = "Pending"
	if started(status) {
		status["phase"] = "Running"
	}
	status["conditions"] = []any{
		map[string]any{"type": "PodScheduled", "status": "True"},
		map[string]any{"type": "Initialized", "status": word(initialised)},
		map[string]any{"type": "ContainersReady", "status": word(ready)},
		map[string]any{"type": "Ready", "status": word(ready)},
	}
	_, err = s.update(ctx, p)
	return err
}

// stepContainers moves one list of a pod's containers and tells whether all of them are ready.
func (s *Simulation) stepContainers(ctx context.Context, p *unstructured.Unstructured, list, statuses string,
	step func(container, last, next map[string]any, image Image)) (bool, error) {
	containers, _, _ := unstructured.NestedSlice(p.Object, "spec", list)
	known, _, _ := unstructured.NestedSlice(p.Object, "status", statuses)
	ready := true
	var all []any
	for i, c := range containers {
		container, _ := c.(map[string]any)
		next := map[string]any{"name": container["name"], "image": container["image"], "imageID": "", "ready": false, "restartCount": int64(0)}
		if i >= len(known) {
			next["state"] = waiting("ContainerCreating", "")
		} else {
			last, _ := known[i].(map[string]any)
			image, err := s.Pull(ctx, fmt.Sprint(container["image"]))
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			if err != nil {
				next["state"] = cannotPull(fmt.Sprint(container["image"]), last, err)
			} else {
				next["imageID"] = image.ID
				step(container, last, next, image)
			}
		}
		ready = ready && next["ready"] == true
		all = append(all, next)
	}
	if len(all) > 0 {
		statusOf(p)[statuses] = all
	}
	return ready, nil
}

// stepContainer starts a container whose image has come, and finds it ready at the step after.
func (s *Simulation) stepContainer(_, last, next map[string]any, image Image) {
	switch {
	case image.Crashes:
		crash(last, next)
	case last["imageID"] == "":
		next["state"] = map[string]any{"running": map[string]any{"startedAt": s.stamp()}}
	default:
		next["state"], next["ready"] = last["state"], true
	}
}

// stepInit has an init container do its work at once.
func (s *Simulation) stepInit(_, last, next map[string]any, image Image) {
	if image.Crashes {
		crash(last, next)
		return
	}
	next["ready"] = true
	next["state"] = map[string]any{"terminated": map[string]any{"exitCode": int64(0), "reason": "Completed"}}
}

// mostRestarts is where counting ends, so that a crash loop comes to rest.
const mostRestarts = 5

func crash(last, next map[string]any) {
	restarts, _ := last["restartCount"].(int64)
	next["restartCount"] = min(restarts+1, mostRestarts)
	next["state"] = waiting("CrashLoopBackOff", "back-off restarting failed container")
	next["lastState"] = map[string]any{"terminated": map[string]any{"exitCode": int64(1), "reason": "Error"}}
}

// cannotPull says it in the kubelet's words.
func cannotPull(image string, last map[string]any, err error) map[string]any {
	reason, _, _ := unstructured.NestedString(last, "state", "waiting", "reason")
	if reason == "ErrImagePull" || reason == "ImagePullBackOff" {
		return waiting("ImagePullBackOff", fmt.Sprintf("Back-off pulling image %q: ErrImagePull: %v", image, err))
	}
	return waiting("ErrImagePull", err.Error())
}

func waiting(reason, message string) map[string]any {
	state := map[string]any{"reason": reason}
	if message != "" {
		state["message"] = message
	}
	return map[string]any{"waiting": state}
}

func word(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

func started(status map[string]any) bool {
	statuses, _ := status["containerStatuses"].([]any)
	for _, c := range statuses {
		if m, _ := c.(map[string]any); m["imageID"] != "" {
			return true
		}
	}
	return false
}

func isReady(pod *unstructured.Unstructured) bool {
	return condition(statusOf(pod), "Ready")["status"] == "True"
}
