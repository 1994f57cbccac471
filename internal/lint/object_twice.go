package lint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/manifest"
)

func objectTwice() Rule {
	return Rule{
		Code: "object-twice", Level: Error,
		What: "One object rendered by two targets for the same cluster and namespace, as the Applications say; without them, by two targets of the same environment. It is a warning where neither Application nor manifest names a namespace.",
		Why:  "The two overwrite each other on every sync (SharedResourceWarning), and pruning one deletes what the other needs.",
		Mend: "Keep the object in one of the targets, or give each its own name (namePrefix) or namespace.",
		run:  twice,
	}
}

// slot is where one object can be once.
type slot struct {
	cluster string // or the environment, when no Application says the cluster
	id      manifest.ID
}

// occupant is a target that renders an object to a slot.
type occupant struct {
	target *target
	object manifest.ID
}

func twice(r *repository) []Finding {
	slots := map[slot][]occupant{}
	for _, t := range r.targets {
		for _, s := range destinations(t) {
			for _, o := range t.rendered.Objects {
				id := o.ID
				id.Namespace = cmp.Or(id.Namespace, s.id.Namespace)
				if clusterScoped(id) {
					id.Namespace = ""
				}
				at := slot{s.cluster, id}
				if held := slots[at]; len(held) == 0 || held[len(held)-1].target != t {
					slots[at] = append(held, occupant{t, o.ID})
				}
			}
		}
	}
	var found []Finding
	for _, at := range slices.SortedFunc(maps.Keys(slots), compareSlots) {
		if held := slots[at]; len(held) > 1 {
			found = append(found, r.shared(at, held))
		}
	}
	return found
}

// destinations are the clusters and namespaces that a target goes to.
func destinations(t *target) []slot {
	var found []slot
	for _, a := range t.applications {
		if cluster := cmp.Or(a.Destination.Server, a.Destination.Name); cluster != "" {
			found = append(found, slot{"cluster " + cluster, manifest.ID{Namespace: a.Destination.Namespace}})
		}
	}
	if len(found) == 0 {
		found = []slot{{cluster: "environment " + t.Environment}}
	}
	return found
}

func (r *repository) shared(at slot, held []occupant) Finding {
	f := r.find(held[0].target, held[0].object, nil, "")
	f.Targets = nil
	for _, o := range held {
		f.Targets = append(f.Targets, o.target.Path)
	}
	where := at.cluster
	if at.id.Namespace != "" {
		where += ", namespace " + at.id.Namespace
	} else if !clusterScoped(at.id) {
		f.Level = Warning
		where += ", if they go to the same namespace"
	}
	f.Message = fmt.Sprintf("%d targets render this object for the %s", len(held), where)
	return f
}

func compareSlots(a, b slot) int {
	return cmp.Or(strings.Compare(a.cluster, b.cluster), strings.Compare(a.id.String(), b.id.String()))
}

// clusterScoped knows the kinds that belong to no namespace.
func clusterScoped(id manifest.ID) bool {
	return slices.Contains([]string{
		"Namespace", "PersistentVolume", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "StorageClass",
		"PriorityClass", "IngressClass", "GatewayClass", "RuntimeClass", "APIService", "ClusterIssuer", "ClusterSecretStore",
		"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
	}, id.Kind)
}
