package health

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/sluicehq/sluice/internal/promotion"
)

// conclusion is what workloads say of themselves.
type conclusion struct {
	rollout promotion.Rollout
	rolling []string // Kind name of those whose newest template does not run everywhere yet
	failed  []string // Kind name of those that missed their progress deadline
	gone    []string // Kind name of those that are being deleted
}

// conclude counts. A workload counts only when its controller has seen its newest spec, and all of them only together with
// as many pods as they speak of: pods and workloads are not seen at the same moment.
func conclude(workloads, pods []*unstructured.Unstructured) conclusion {
	var c conclusion
	total := 0
	for _, w := range workloads {
		r, size := counts(w)
		total += size
		c.rollout.Desired += r.Desired
		c.rollout.Updated += r.Updated
		c.rollout.Ready += r.Ready
		c.rollout.Available += r.Available
		c.rollout.Old += r.Old
		name := w.GetKind() + " " + w.GetName()
		result, err := status.Compute(w)
		switch {
		case err != nil || result.Status == status.InProgressStatus || result.Status == status.UnknownStatus:
			c.rolling = append(c.rolling, name)
		case result.Status == status.FailedStatus:
			c.failed = append(c.failed, name)
		case result.Status == status.TerminatingStatus:
			c.gone = append(c.gone, name)
		}
	}
	if len(c.rolling)+len(c.failed) == 0 && total != len(present(pods)) {
		for _, w := range workloads {
			c.rolling = append(c.rolling, w.GetKind()+" "+w.GetName())
		}
	}
	return c
}

// correct is an Application's health in the light of its workloads: it says Healthy for a moment before a rollout begins.
func (c conclusion) correct(said promotion.HealthStatus) promotion.HealthStatus {
	switch {
	case said == promotion.HealthUnknown:
		return said
	case len(c.failed) > 0:
		return promotion.Degraded
	case said == promotion.Healthy && len(c.rolling)+len(c.gone) > 0:
		return promotion.Progressing
	}
	return said
}

// counts are a workload's numbers, and how many pods it has.
func counts(w *unstructured.Unstructured) (r promotion.Rollout, total int) {
	o := w.Object
	if w.GetKind() == "DaemonSet" {
		total = number(o, "status", "currentNumberScheduled")
		r = promotion.Rollout{Desired: number(o, "status", "desiredNumberScheduled"), Updated: number(o, "status", "updatedNumberScheduled"),
			Ready: number(o, "status", "numberReady"), Available: number(o, "status", "numberAvailable")}
	} else {
		total = number(o, "status", "replicas")
		r = promotion.Rollout{Desired: 1, Updated: number(o, "status", "updatedReplicas"),
			Ready: number(o, "status", "readyReplicas"), Available: number(o, "status", "availableReplicas")}
		if _, set, _ := unstructured.NestedFieldNoCopy(o, "spec", "replicas"); set {
			r.Desired = number(o, "spec", "replicas")
		}
	}
	if int64(number(o, "status", "observedGeneration")) < w.GetGeneration() {
		r.Updated = 0
	}
	r.Old = max(0, total-r.Updated)
	return r, total
}

// templateImages are the distinct images of the current pod templates, init containers' included.
func templateImages(workloads []*unstructured.Unstructured) []string {
	var images []string
	for _, w := range workloads {
		spec, _, _ := unstructured.NestedMap(w.Object, "spec", "template", "spec")
		for _, c := range append(list(spec, "initContainers"), list(spec, "containers")...) {
			if image := text(c, "image"); image != "" && !slices.Contains(images, image) {
				images = append(images, image)
			}
		}
	}
	return images
}
