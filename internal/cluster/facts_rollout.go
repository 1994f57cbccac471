package cluster

import (
	"context"
	"errors"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/sluicehq/sluice/internal/promotion"
)

// What Argo Rollouts writes.
var rollouts = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "rollouts"}

const (
	podHash  = "rollouts-pod-template-hash"
	leavesAt = "argo-rollouts.argoproj.io/scale-down-deadline"
)

// errStale: what a status says is about an earlier change.
var errStale = errors.New("its controller has not seen the last change of it yet")

// rollout is a Rollout and how far its switch has come. Rollouts are not watched: it is asked for.
func (l *look) rollout(ctx context.Context, name string) promotion.LiveWorkload {
	live := promotion.LiveWorkload{Present: true}
	s := promotion.Switch{Cluster: l.Name}
	o, err := l.Client.Resource(rollouts).Namespace(l.namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		live.Present, s.Read = false, true
	case err != nil:
		l.unread("Rollout "+name, err)
	case !l.informers[ReplicaSets].HasSynced():
		l.unread("the stacks of Rollout "+name, errNotSeen)
	default:
		live = describe(o)
		if observed, _, _ := unstructured.NestedString(o.Object, "status", "observedGeneration"); observed != strconv.FormatInt(o.GetGeneration(), 10) {
			l.unread("the state of Rollout "+name, errStale)
			break
		}
		s = switchOf(o)
		s.Cluster, s.Stacks = l.Name, l.stacks(o)
	}
	live.Switches = []promotion.Switch{s}
	return live
}

// switchOf is what a Rollout's status says.
func switchOf(o *unstructured.Unstructured) promotion.Switch {
	text := func(path ...string) string { s, _, _ := unstructured.NestedString(o.Object, path...); return s }
	flag := func(path ...string) bool { b, _, _ := unstructured.NestedBool(o.Object, path...); return b }
	s := promotion.Switch{Read: true, Stable: text("status", "stableRS"), Current: text("status", "currentPodHash"), Aborted: flag("status", "abort"),
		Held: flag("spec", "paused"), Active: text("status", "blueGreen", "activeSelector"), Preview: text("status", "blueGreen", "previewSelector")}
	_, s.BlueGreen, _ = unstructured.NestedMap(o.Object, "spec", "strategy", "blueGreen")
	steps, _, _ := unstructured.NestedSlice(o.Object, "spec", "strategy", "canary", "steps")
	s.Steps = len(steps)
	if n, found, _ := unstructured.NestedInt64(o.Object, "status", "currentStepIndex"); found {
		s.Step = int(n)
	}
	if n, found, _ := unstructured.NestedInt64(o.Object, "status", "canary", "weights", "canary", "weight"); found {
		weight := int(n)
		s.Weight = &weight
	}
	pauses, _, _ := unstructured.NestedSlice(o.Object, "status", "pauseConditions")
	if len(pauses) > 0 {
		first, _ := pauses[0].(map[string]any)
		s.Pause, _ = first["reason"].(string)
	}
	return s
}

// stacks are the generations of a Rollout's pods.
func (l *look) stacks(o *unstructured.Unstructured) []promotion.Stack {
	var all []promotion.Stack
	for _, set := range l.owned(ReplicaSets, string(o.GetUID())) {
		stack := promotion.Stack{Hash: set.GetLabels()[podHash], Leaving: set.GetAnnotations()[leavesAt] != ""}
		containers, _, _ := unstructured.NestedSlice(set.Object, "spec", "template", "spec", "containers")
		for _, c := range containers {
			container, _ := c.(map[string]any)
			image, _ := container["image"].(string)
			stack.Images = append(stack.Images, image)
		}
		if n, found, _ := unstructured.NestedInt64(set.Object, "status", "readyReplicas"); found {
			stack.Ready = int(n)
		}
		all = append(all, stack)
	}
	return all
}
