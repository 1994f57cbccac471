package realkube

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// decide writes the status that a pod's fate wants, and tells whether it is another one than before.
func (k *Kubelet) decide(pod *unstructured.Unstructured) (changed bool, err error) {
	before, _, err := unstructured.NestedMap(pod.Object, "status")
	if err != nil {
		return false, err
	}
	status := runtime.DeepCopyJSON(before)
	p := podStatus{status: status, now: time.Now().UTC().Format(time.RFC3339)}
	if p.ended() {
		return false, nil
	}
	restarts, _, _ := unstructured.NestedString(pod.Object, "spec", "restartPolicy") //nolint:errcheck // a string, or not there
	p.mortal = restarts == "Never"
	for _, kind := range []string{"initContainer", "container"} {
		containers, _, err := unstructured.NestedSlice(pod.Object, "spec", kind+"s")
		if err != nil {
			return false, err
		}
		var statuses []any
		for i, c := range containers {
			spec, _ := c.(map[string]any)
			image := fmt.Sprint(spec["image"])
			statuses = append(statuses, p.container(kind, i, fmt.Sprint(spec["name"]), image, k.fate(pod.GetNamespace(), image)))
		}
		if len(statuses) > 0 {
			status[kind+"Statuses"] = statuses
		}
	}
	p.conclude(k.address(status))
	if equality.Semantic.DeepEqual(before, status) {
		return false, nil
	}
	return true, unstructured.SetNestedMap(pod.Object, status, "status")
}

func (k *Kubelet) address(status map[string]any) string {
	if known, ok := status["podIP"].(string); ok {
		return known
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.next++
	return fmt.Sprintf("10.0.%d.%d", k.next/250, k.next%250+1)
}

// podStatus is a pod's status while it is written.
type podStatus struct {
	status  map[string]any
	now     string
	mortal  bool // it is not started again
	waiting bool // for an init container
	unready bool
	failed  bool
	running bool
}

func (p *podStatus) ended() bool {
	return p.status["phase"] == "Succeeded" || p.status["phase"] == "Failed"
}

func (p *podStatus) container(kind string, i int, name, image string, f Fate) map[string]any {
	was := p.before(kind, i)
	c := map[string]any{"name": name, "image": image, "imageID": "", "ready": false, "started": false, "restartCount": int64(0)}
	switch {
	case p.waiting:
		c["state"] = waiting("PodInitializing", "")
	case f.Pull != "":
		c["state"] = waiting("ImagePullBackOff", fmt.Sprintf("Back-off pulling image %q: ErrImagePull: %s", image, f.Pull))
	default:
		if c["imageID"] = f.ImageID; f.ImageID == "" {
			c["imageID"] = image
		}
		p.start(c, was, kind, f)
	}
	if kind == "initContainer" {
		p.waiting = p.waiting || c["ready"] == false
	}
	p.unready = p.unready || c["ready"] == false
	return c
}

// start gives a container whose image was pulled the state in which it stays.
func (p *podStatus) start(c, was map[string]any, kind string, f Fate) {
	restarts, _ := was["restartCount"].(int64)
	state, _ := was["state"].(map[string]any)
	switch {
	case f.Exit != 0 && p.mortal:
		c["state"], p.failed = p.terminated(f), true
	case f.Exit != 0:
		c["state"], c["restartCount"] = waiting("CrashLoopBackOff", "back-off 20s restarting failed container="+fmt.Sprint(c["name"])), max(restarts, 2)
		last, _ := was["lastState"].(map[string]any)
		if c["lastState"] = last; last["terminated"] == nil {
			c["lastState"] = p.terminated(f)
		}
	case kind == "initContainer" || p.mortal:
		c["state"], c["ready"] = p.terminated(f), kind == "initContainer"
		if state["terminated"] != nil {
			c["state"] = state
		}
	default:
		c["state"], c["started"], c["ready"], c["restartCount"] = map[string]any{"running": map[string]any{"startedAt": p.now}}, true, !f.Unready, restarts
		p.running = true
		if state["running"] != nil {
			c["state"] = state
		}
	}
}

func (p *podStatus) before(kind string, i int) map[string]any {
	all, _ := p.status[kind+"Statuses"].([]any)
	if i >= len(all) {
		return nil
	}
	was, _ := all[i].(map[string]any)
	return was
}

func waiting(reason, message string) map[string]any {
	state := map[string]any{"reason": reason}
	if message != "" {
		state["message"] = message
	}
	return map[string]any{"waiting": state}
}

func (p *podStatus) terminated(f Fate) map[string]any {
	reason := "Completed"
	if f.Exit != 0 {
		reason = "Error"
	}
	if f.OOM {
		reason = "OOMKilled"
	}
	return map[string]any{"terminated": map[string]any{"exitCode": int64(f.Exit), "reason": reason, "startedAt": p.now, "finishedAt": p.now}}
}

// conclude writes what follows for the pod as a whole.
func (p *podStatus) conclude(address string) {
	if p.status["startTime"] == nil {
		p.status["startTime"] = p.now
	}
	switch {
	case p.failed:
		p.status["phase"] = "Failed"
	case p.mortal && !p.waiting && !p.running && p.allEnded():
		p.status["phase"] = "Succeeded"
	case p.running || p.restarts():
		p.status["phase"] = "Running"
	default:
		p.status["phase"] = "Pending"
	}
	p.status["hostIP"], p.status["podIP"] = "192.0.2.10", address
	p.status["podIPs"] = []any{map[string]any{"ip": address}}
	p.condition("Initialized", !p.waiting, "ContainersNotInitialized")
	p.condition("ContainersReady", !p.unready, "ContainersNotReady")
	p.condition("Ready", !p.unready, "ContainersNotReady")
}

func (p *podStatus) each(is func(status map[string]any) bool) (all, some bool) {
	statuses, _ := p.status["containerStatuses"].([]any)
	all = true
	for _, s := range statuses {
		status, _ := s.(map[string]any)
		all, some = all && is(status), some || is(status)
	}
	return all, some
}

func (p *podStatus) allEnded() bool {
	all, _ := p.each(func(s map[string]any) bool {
		state, _ := s["state"].(map[string]any)
		return state["terminated"] != nil
	})
	return all
}

func (p *podStatus) restarts() bool {
	_, some := p.each(func(s map[string]any) bool { return s["restartCount"] != int64(0) })
	return some
}

func (p *podStatus) condition(kind string, is bool, whyNot string) {
	next := map[string]any{"type": kind, "status": "True", "lastTransitionTime": p.now}
	if !is {
		next["status"], next["reason"] = "False", whyNot
	}
	conditions, _ := p.status["conditions"].([]any)
	for i, c := range conditions {
		if was, _ := c.(map[string]any); was["type"] == kind {
			if was["status"] == next["status"] {
				return
			}
			conditions[i] = next
			return
		}
	}
	p.status["conditions"] = append(conditions, next)
}
