package health

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Crash is the last end of a container that crashes again and again.
type Crash struct {
	UID, Namespace, Pod, Container string // UID is the pod's
	Restarts                       int
	Previous                       bool // it was started again since: what it wrote is the log of the container before
	ExitCode                       int
	OutOfMemory                    bool
}

// Log is what a container wrote last, or why that is not known.
type Log struct{ Text, Unread string }

// Crashes lists the containers that crash again and again, the one first that the diagnosis names.
func Crashes(pods []*unstructured.Unstructured) []Crash {
	var all []Crash
	for _, pod := range present(pods) {
		for _, kind := range []string{"initContainer", "container"} {
			for _, status := range list(pod.Object, "status", kind+"Statuses") {
				if c, crashes := crashOf(pod, status); crashes {
					all = append(all, c)
				}
			}
		}
	}
	return all
}

// crashOf: a container that ended and was started again, and does not become ready, is in a crash loop. The kubelet's
// own word for it comes and goes with the restarts.
func crashOf(pod *unstructured.Unstructured, status map[string]any) (Crash, bool) {
	ready, _, _ := unstructured.NestedBool(status, "ready")
	ended, previous, _ := unstructured.NestedMap(status, "lastState", "terminated")
	if ended == nil {
		ended, _, _ = unstructured.NestedMap(status, "state", "terminated")
	}
	c := Crash{UID: string(pod.GetUID()), Namespace: pod.GetNamespace(), Pod: pod.GetName(), Container: text(status, "name"), Restarts: number(status, "restartCount"),
		Previous: previous, ExitCode: number(ended, "exitCode"), OutOfMemory: text(ended, "reason") == "OOMKilled"}
	return c, !ready && ended != nil && c.Restarts > 0
}

func crashTrouble(pod *unstructured.Unstructured, status map[string]any) string {
	c, crashes := crashOf(pod, status)
	switch {
	case !crashes:
		return ""
	case c.OutOfMemory:
		return fmt.Sprintf("Container %s of pod %s is killed again and again because it uses more memory than its limit (exit code %d). Raise the limit or go back.",
			c.Container, c.Pod, c.ExitCode)
	}
	return fmt.Sprintf("Container %s of pod %s crashes again and again (exit code %d). Read its log (kubectl logs --previous %s -c %s), then fix it or go back.",
		c.Container, c.Pod, c.ExitCode, c.Pod, c.Container)
}

// lastEnd is evidence beside the diagnosis: the log changes with each restart, and the sentence must not.
func lastEnd(pod *unstructured.Unstructured, status map[string]any, logs map[Crash]Log) promotion.LastEnd {
	c, crashes := crashOf(pod, status)
	log, asked := logs[c]
	if !crashes || !asked {
		return promotion.LastEnd{}
	}
	return promotion.LastEnd{ExitCode: c.ExitCode, Log: log.Text, Unread: log.Unread}
}
