package lint

import "fmt"

func configMissing() Rule {
	return Rule{
		Code: "config-missing", Level: Warning,
		What: "A container that needs a ConfigMap or Secret which no target of the environment renders, and which is not optional.",
		Why:  "If it does not live in the cluster already, new pods do not start. If it does, nothing in Git says who makes it, and a new cluster will not have it.",
		Mend: "Bring it into the target (a Secret as SealedSecret or ExternalSecret), correct the name, or mark the reference `optional: true`.",
		run: eachTarget(func(r *repository, t *target) []Finding {
			var found []Finding
			provides := t.provides()
			for _, p := range t.pods() {
				seen := map[objectKey]bool{}
				for _, ref := range p.references() {
					_, rendered := provides[ref.objectKey]
					if !rendered && !r.stages[t.Environment][ref.objectKey] && !seen[ref.objectKey] && ref.name != "kube-root-ca.crt" {
						seen[ref.objectKey] = true
						found = append(found, r.find(t, p.owner.ID, ref.path,
							fmt.Sprintf("the %s %s is rendered by no target of the environment", ref.kind, ref.name)))
					}
				}
			}
			return found
		}),
	}
}
