package simulation

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// summarise writes the Application's health, the worst of its Deployments', and the images that run. Both are
// what was seen, so they are late: the images of the release before may still be there when the sync has succeeded.
func (s *Simulation) summarise(ctx context.Context, app *unstructured.Unstructured, status map[string]any) error {
	worst := "Healthy"
	var images []any
	resources, _ := status["resources"].([]any)
	for _, r := range resources {
		m, _ := r.(map[string]any)
		if m["kind"] != "Deployment" {
			continue
		}
		gvr, _ := resource("Deployment")
		namespace, name := m["namespace"].(string), m["name"].(string)
		d, err := s.client.Resource(gvr).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			worst = worse(worst, "Missing")
			continue
		}
		worst = worse(worst, deploymentHealth(d))
		pods, err := s.podsOf(ctx, d)
		if err != nil {
			return err
		}
		for _, p := range pods {
			containers, _, _ := unstructured.NestedSlice(p.Object, "spec", "containers")
			for _, c := range containers {
				if image := c.(map[string]any)["image"]; !slices.Contains(images, image) {
					images = append(images, image)
				}
			}
		}
	}
	status["health"] = map[string]any{"status": worst}
	status["summary"] = map[string]any{"images": images}
	return nil
}

func worse(a, b string) string {
	order := []string{"Healthy", "Progressing", "Missing", "Degraded"}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

func deploymentHealth(d *unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(d.Object, "status", "conditions")
	for _, c := range conditions {
		m, _ := c.(map[string]any)
		switch m["reason"] {
		case "ProgressDeadlineExceeded":
			return "Degraded"
		case "NewReplicaSetAvailable":
			return "Healthy"
		}
	}
	return "Progressing"
}
