package lint

import (
	"fmt"
	"slices"

	"github.com/sluicehq/sluice/internal/argocd"
	"github.com/sluicehq/sluice/internal/manifest"
)

func replicasWithHPA() Rule {
	return Rule{
		Code: "replicas-with-hpa", Level: Error,
		What: "A workload that renders `spec.replicas` while a HorizontalPodAutoscaler (or a KEDA ScaledObject) of the same target scales it, unless each of its Applications ignores the difference at /spec/replicas.",
		Why:  "Each sync sets the replicas back to the number in Git, whatever the load is, and in between the Application is out of sync.",
		Mend: "Remove spec.replicas from the manifest. Where it cannot go, add ignoreDifferences on /spec/replicas to the Application together with the sync option RespectIgnoreDifferences=true.",
		run: eachTarget(func(r *repository, t *target) []Finding {
			var found []Finding
			for _, s := range scaled(t) {
				if _, ignored := ignoring(t, s.workload.ID); !ignored {
					found = append(found, r.find(t, s.workload.ID, []string{"spec", "replicas"},
						fmt.Sprintf("spec.replicas is set, and a %s scales this workload", s.by.Kind)))
				}
			}
			return found
		}),
	}
}

// scaling is a workload with replicas that something else scales.
type scaling struct{ workload, by manifest.Object }

func scaled(t *target) []scaling {
	var found []scaling
	scalers := append(t.all("autoscaling", "HorizontalPodAutoscaler"), t.all("keda.sh", "ScaledObject")...)
	for _, by := range scalers {
		kind, name := text(by.Content, "spec", "scaleTargetRef", "kind"), text(by.Content, "spec", "scaleTargetRef", "name")
		if kind == "" {
			kind = "Deployment"
		}
		for _, o := range t.rendered.Objects {
			if o.Kind == kind && o.Name == name && sameNamespace(o.Namespace, by.Namespace) && dig(o.Content, "spec", "replicas") != nil {
				found = append(found, scaling{o, by})
			}
		}
	}
	return found
}

// ignoring gives the Applications of a target when all of them ignore the
// replicas of a workload.
func ignoring(t *target, workload manifest.ID) ([]argocd.Linked, bool) {
	for _, a := range t.applications {
		if !slices.ContainsFunc(a.IgnoreDifferences, func(d argocd.IgnoreDifference) bool { return ignoresReplicas(d, workload) }) {
			return nil, false
		}
	}
	return t.applications, len(t.applications) > 0
}

func ignoresReplicas(d argocd.IgnoreDifference, workload manifest.ID) bool {
	if !glob(d.Group, workload.Group) || !glob(d.Kind, workload.Kind) || d.Name != "" && d.Name != workload.Name ||
		d.Namespace != "" && !sameNamespace(d.Namespace, workload.Namespace) {
		return false
	}
	return slices.ContainsFunc(hiddenBy(d), func(h hiddenField) bool { return h.path == "spec.replicas" })
}
