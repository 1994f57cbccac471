package lint

import "fmt"

func configKeyMissing() Rule {
	return Rule{
		Code: "config-key-missing", Level: Error,
		What: "A container that needs a key which the rendered ConfigMap or Secret does not have, and which is not optional. A SealedSecret or an ExternalSecret counts as the Secret it makes.",
		Why:  "New pods do not start (CreateContainerConfigError, or a volume that cannot be mounted). A rollout stands still, or a node's restart takes the application down.",
		Mend: "Add the key, or write the name of one that is there; mark the reference `optional: true` if the container can do without.",
		run: eachTarget(func(r *repository, t *target) []Finding {
			var found []Finding
			provides := t.provides()
			for _, p := range t.pods() {
				for _, ref := range p.references() {
					config, rendered := provides[ref.objectKey]
					if !rendered || config.keys == nil {
						continue
					}
					for _, key := range ref.keys {
						if !config.keys[key] {
							found = append(found, r.find(t, p.owner.ID, ref.path,
								fmt.Sprintf("the %s %s has no key %s", ref.kind, plainName(ref.name), key)))
						}
					}
				}
			}
			return found
		}),
	}
}
