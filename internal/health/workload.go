package health

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluicehq/sluice/internal/promotion"
)

// conclusions adds what workloads and pods say: what runs, how far a rollout is, and in one
// sentence what is wrong.
func conclusions(o Objects, out *promotion.Observation) {
	rolling, failed := false, ""
	for _, w := range o.Workloads {
		r := counts(w.Object)
		out.Rollout.Desired += r.Desired
		out.Rollout.Updated += r.Updated
		out.Rollout.Ready += r.Ready
		out.Rollout.Available += r.Available
		rolling = rolling || !settled(w, r)
		if exceeded(w.Object) {
			failed = fmt.Sprintf("%s %s did not become ready within its progress deadline.", w.GetKind(), w.GetName())
		}
	}
	wanted := templateImages(o.Workloads)
	trouble := ""
	for _, p := range o.Pods {
		if p.GetDeletionTimestamp() != nil {
			continue
		}
		containers := containers(p.Object, p.GetName())
		if slices.ContainsFunc(containers, func(c promotion.ContainerImage) bool { return !slices.Contains(wanted, c.Image) }) {
			out.Rollout.Old++
			rolling = true
		}
		out.RunningImages = append(out.RunningImages, running(containers)...)
		if problem := diagnosePod(p.Object, p.GetName()); problem != "" && trouble == "" {
			trouble = problem
		}
	}
	if out.Health == promotion.Healthy && rolling {
		out.Health = promotion.Progressing // the Application has not noticed the rollout yet
	}
	if failed != "" && out.Health != promotion.HealthUnknown {
		out.Health = promotion.Degraded
	}
	out.Message = diagnosis(o.Application.Object, out, trouble, failed)
}

// diagnosis picks the cause over its consequences.
func diagnosis(app map[string]any, out *promotion.Observation, trouble, failed string) string {
	switch {
	case comparisonError(app) != "":
		return "Argo CD cannot compare with Git: " + comparisonError(app)
	case out.Operation == "Failed" || out.Operation == "Error":
		if failure := resourceFailure(app); failure != "" {
			return "The sync failed: " + failure
		}
		return "The sync failed: " + text(app, "status", "operationState", "message")
	case trouble != "":
		return trouble
	case failed != "":
		return failed
	case out.Health == promotion.Progressing:
		return fmt.Sprintf("%d of %d pods are updated, %d ready, %d old ones remain.", out.Rollout.Updated, out.Rollout.Desired, out.Rollout.Ready, out.Rollout.Old)
	case out.Health == promotion.Degraded:
		return text(app, "status", "health", "message")
	}
	return ""
}

func counts(w map[string]any) promotion.Rollout {
	desired := number(w, "spec", "replicas")
	if _, set, _ := unstructured.NestedFieldNoCopy(w, "spec", "replicas"); !set {
		desired = max(1, number(w, "status", "desiredNumberScheduled"))
	}
	updated := max(number(w, "status", "updatedReplicas"), number(w, "status", "updatedNumberScheduled"))
	ready := max(number(w, "status", "readyReplicas"), number(w, "status", "numberReady"))
	available := max(number(w, "status", "availableReplicas"), number(w, "status", "numberAvailable"))
	return promotion.Rollout{Desired: desired, Updated: updated, Ready: ready, Available: available}
}

// settled: the controller has seen the newest spec, and every pod is a new one and available.
func settled(w *unstructured.Unstructured, r promotion.Rollout) bool {
	seen := number(w.Object, "status", "observedGeneration") >= int(w.GetGeneration())
	total := max(number(w.Object, "status", "replicas"), number(w.Object, "status", "currentNumberScheduled"))
	return seen && r.Updated >= r.Desired && r.Available >= r.Desired && total <= r.Desired
}

func exceeded(w map[string]any) bool {
	conditions, _, _ := unstructured.NestedSlice(w, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		m, _ := c.(map[string]any)
		return text(m, "reason") == "ProgressDeadlineExceeded"
	})
}

func templateImages(workloads []*unstructured.Unstructured) []string {
	var images []string
	for _, w := range workloads {
		for _, list := range []string{"containers", "initContainers"} {
			all, _, _ := unstructured.NestedSlice(w.Object, "spec", "template", "spec", list)
			for _, c := range all {
				m, _ := c.(map[string]any)
				images = append(images, text(m, "image"))
			}
		}
	}
	return images
}

// containers pairs what a pod asks for with what its node says it runs.
func containers(pod map[string]any, name string) []promotion.ContainerImage {
	var all []promotion.ContainerImage
	specs, _, _ := unstructured.NestedSlice(pod, "spec", "containers")
	statuses, _, _ := unstructured.NestedSlice(pod, "status", "containerStatuses")
	for _, s := range specs {
		spec, _ := s.(map[string]any)
		c := promotion.ContainerImage{Pod: name, Container: text(spec, "name"), Image: text(spec, "image")}
		for _, s := range statuses {
			status, _ := s.(map[string]any)
			if text(status, "name") == c.Container {
				c.ImageID = strings.TrimPrefix(text(status, "imageID"), "docker-pullable://")
				c.Ready, _, _ = unstructured.NestedBool(status, "ready")
			}
		}
		all = append(all, c)
	}
	return all
}

// running leaves out containers that no image was pulled for.
func running(all []promotion.ContainerImage) []promotion.ContainerImage {
	return slices.DeleteFunc(slices.Clone(all), func(c promotion.ContainerImage) bool { return c.ImageID == "" })
}

// diagnosePod says what keeps a pod from working, and what to do.
func diagnosePod(pod map[string]any, name string) string {
	statuses, _, _ := unstructured.NestedSlice(pod, "status", "containerStatuses")
	for _, s := range statuses {
		status, _ := s.(map[string]any)
		reason, message := text(status, "state", "waiting", "reason"), text(status, "state", "waiting", "message")
		switch reason {
		case "ErrImagePull", "ImagePullBackOff", "InvalidImageName":
			return fmt.Sprintf("The image %s cannot be pulled by pod %s: %s. Check that the registry has it and that the pull secret is valid.", text(status, "image"), name, message)
		case "CrashLoopBackOff":
			return fmt.Sprintf("Container %s of pod %s crashes right after it starts (exit code %d). Read its log; the release before still works if old pods remain.",
				text(status, "name"), name, number(status, "lastState", "terminated", "exitCode"))
		case "CreateContainerConfigError":
			return fmt.Sprintf("Container %s of pod %s cannot be configured: %s", text(status, "name"), name, message)
		}
	}
	conditions, _, _ := unstructured.NestedSlice(pod, "status", "conditions")
	for _, c := range conditions {
		m, _ := c.(map[string]any)
		if text(m, "type") == "PodScheduled" && text(m, "reason") == "Unschedulable" {
			return fmt.Sprintf("Pod %s cannot be placed on a node: %s", name, text(m, "message"))
		}
	}
	return ""
}

func number(m map[string]any, path ...string) int {
	v, _, _ := unstructured.NestedFieldNoCopy(m, path...)
	switch n := v.(type) {
	case int64:
		return int(n)
	case float64:
		return int(n)
	}
	return 0
}
