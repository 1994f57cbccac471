package lint

import (
	"fmt"
	"regexp"
	"strings"
)

// hashSuffix is what kustomize's generators put to a name.
var hashSuffix = regexp.MustCompile(`-[2456789bcdfghkmt]{10}$`)

// plainName is a name without what a generator put to it.
func plainName(name string) string { return hashSuffix.ReplaceAllString(name, "") }

func configWithoutRollout() Rule {
	return Rule{
		Code: "config-without-rollout", Level: Warning,
		What: "A long-running workload that uses a rendered ConfigMap or Secret whose name has no content hash, which is not immutable, and of which no annotation of the pod template holds a checksum.",
		Why:  "A change of the content alone restarts nothing: running pods keep the old values, those that start later have the new ones, and a rollback brings neither back for sure.",
		Mend: "Make it with configMapGenerator or secretGenerator without disableNameSuffixHash; in a chart, put a checksum annotation on the pod template; or let a reloader annotation on the workload restart it.",
		run: eachTarget(func(r *repository, t *target) []Finding {
			var found []Finding
			provides := t.provides()
			for _, p := range t.pods() {
				if len(p.path) != 2 || p.owner.Kind == "Job" || hasTrigger(p) {
					continue
				}
				seen := map[objectKey]bool{}
				for _, ref := range p.references() {
					config, rendered := provides[ref.objectKey]
					immutable, _ := config.object.Content["immutable"].(bool)
					if !rendered || immutable || seen[ref.objectKey] || config.object.Kind != ref.kind || hashSuffix.MatchString(ref.name) {
						continue
					}
					seen[ref.objectKey] = true
					found = append(found, r.find(t, p.owner.ID, ref.path,
						fmt.Sprintf("a change of the %s %s restarts nothing", ref.kind, ref.name)))
				}
			}
			return found
		}),
	}
}

// hasTrigger tells whether something restarts the pods when their
// configuration changes.
func hasTrigger(p pods) bool {
	for key := range fields(p.template, "metadata", "annotations") {
		if strings.Contains(key, "checksum") || strings.Contains(key, "hash") {
			return true
		}
	}
	for key := range fields(p.owner.Content, "metadata", "annotations") {
		if strings.Contains(key, "reloader.stakater.com/") {
			return true
		}
	}
	return false
}
