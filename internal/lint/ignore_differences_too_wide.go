package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/argocd"
)

func ignoreDifferencesTooWide() Rule {
	return Rule{
		Code: "ignore-differences-too-wide", Level: Error,
		What: "An entry under ignoreDifferences that hides images, commands, arguments or environment of containers, rules and subjects of RBAC, a whole spec or pod template, or all that kubectl or Argo CD itself wrote.",
		Why:  "What is ignored may be changed in the cluster by anybody, and Argo CD goes on to say Synced. These are the fields that decide which code runs and what it may do.",
		Mend: "Name only the fields that a controller owns, such as /spec/replicas, for the one object it owns them in; or let the controller's field manager be named in managedFieldsManagers.",
		run:  tooWide,
	}
}

func tooWide(r *repository) []Finding {
	var found []Finding
	for _, a := range r.input.Applications {
		for _, d := range a.IgnoreDifferences {
			for _, h := range hiddenBy(d) {
				if what := tooMuch(d, h.path); what != "" {
					found = append(found, r.aboutApplication(a, d.Line, fmt.Sprintf("%q hides %s of %s", h.written, what, kindOf(d))))
				}
			}
			for _, manager := range d.ManagedFieldsManagers {
				if strings.HasPrefix(manager, "kubectl") || strings.HasPrefix(manager, "argocd") || manager == "helm" || manager == "*" {
					found = append(found, r.aboutApplication(a, d.Line, fmt.Sprintf("every field that %s wrote is hidden in %s", manager, kindOf(d))))
				}
			}
		}
	}
	return found
}

func kindOf(d argocd.IgnoreDifference) string {
	if d.Name != "" {
		return d.Kind + " " + d.Name
	}
	return "every " + d.Kind
}

// tooMuch says in words what a path hides that must not be hidden; empty for
// all else.
func tooMuch(d argocd.IgnoreDifference, path string) string {
	parts := strings.Split(path, ".")
	last := parts[len(parts)-1]
	rbac := []string{"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"}
	isRBAC := slices.ContainsFunc(rbac, func(kind string) bool { return glob(d.Kind, kind) })
	container := slices.IndexFunc(parts, func(p string) bool { return p == "containers" || p == "initContainers" })
	switch {
	case path == everything:
		return "the whole object"
	case path == "spec":
		return "the whole spec"
	case isRBAC && slices.Contains([]string{"rules", "subjects", "roleRef", "aggregationRule"}, parts[0]):
		return "the " + parts[0] + " (who may do what)"
	case container >= 0 && container == len(parts)-1:
		return "the containers"
	case container >= 0 && slices.Contains([]string{"image", "command", "args", "env", "envFrom"}, parts[container+1]):
		return "the " + parts[container+1] + " of containers"
	case parts[0] == "spec" && (last == "template" || last == "jobTemplate" || last == "spec") && container < 0:
		return "the whole pod template"
	}
	return ""
}
