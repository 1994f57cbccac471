package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/manifest"
)

func serviceSelectsNothing() Rule {
	return Rule{
		Code: "service-selects-nothing", Level: Error,
		What: "A Service whose selector matches the labels of no pod template that the target renders. A target that renders no pods at all is passed over: its pods come from elsewhere.",
		Why:  "The Service has no endpoints, so every request to it fails, while Argo CD says Synced and Healthy.",
		Mend: "Make spec.selector equal to labels of the pod template. A kustomization's label transformer must include selectors and templates alike.",
		run: eachTarget(func(r *repository, t *target) []Finding {
			var found []Finding
			all := t.pods()
			for _, s := range t.services() {
				if len(all) > 0 && len(selecting(s, all)) == 0 {
					found = append(found, r.find(t, s.ID, []string{"spec", "selector"},
						fmt.Sprintf("no pod template has the labels %s", labels(fields(s.Content, "spec", "selector")))))
				}
			}
			return found
		}),
	}
}

// services are those that select pods.
func (t *target) services() []manifest.Object {
	return slices.DeleteFunc(t.all("", "Service"), func(s manifest.Object) bool {
		return len(fields(s.Content, "spec", "selector")) == 0 || text(s.Content, "spec", "type") == "ExternalName"
	})
}

// selecting gives the pods that a Service selects.
func selecting(service manifest.Object, all []pods) []pods {
	selector := fields(service.Content, "spec", "selector")
	return slices.DeleteFunc(slices.Clone(all), func(p pods) bool {
		own := fields(p.template, "metadata", "labels")
		for key, value := range selector {
			if own[key] != value {
				return true
			}
		}
		return !sameNamespace(service.Namespace, p.owner.Namespace)
	})
}

func labels(selector map[string]any) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		all = append(all, fmt.Sprintf("%s=%v", key, selector[key]))
	}
	return strings.Join(all, ",")
}
