package simulation

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

// summarise writes the Application's health, the worst of its workloads', and the images that run. Both are
// as last seen, so that they may be those of the revision before when a sync has succeeded.
func (e *Engine) summarise(ctx context.Context, app map[string]any, desired []*unstructured.Unstructured, f family) error {
	worst := "Healthy"
	var images []string
	for _, o := range desired {
		if kind := o.GetKind(); kind != "Deployment" && kind != "StatefulSet" && kind != "DaemonSet" {
			continue
		}
		d, err := e.live(ctx, o)
		if apierrors.IsNotFound(err) {
			worst = worse(worst, "Missing")
			continue
		} else if err != nil {
			return err
		}
		health, err := healthOf(d)
		if err != nil {
			return err
		}
		worst = worse(worst, health)
		for _, p := range f.podsOf(d.GetUID()) {
			images = append(images, imagesOf(p)...)
		}
	}
	slices.Sort(images)
	distinct := []any{}
	for _, image := range slices.Compact(images) {
		distinct = append(distinct, image)
	}
	app["health"] = map[string]any{"status": worst}
	app["summary"] = map[string]any{"images": distinct}
	return nil
}

func worse(a, b string) string {
	order := []string{"Healthy", "Progressing", "Missing", "Degraded"}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

func healthOf(d *unstructured.Unstructured) (string, error) {
	result, err := status.Compute(d)
	if err != nil {
		return "", err
	}
	switch result.Status {
	case status.CurrentStatus:
		return "Healthy", nil
	case status.FailedStatus:
		return "Degraded", nil
	}
	return "Progressing", nil
}

func imagesOf(pod *unstructured.Unstructured) []string {
	var images []string
	containers, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers")
	for _, c := range containers {
		if m, _ := c.(map[string]any); m["image"] != nil {
			images = append(images, m["image"].(string))
		}
	}
	return images
}
