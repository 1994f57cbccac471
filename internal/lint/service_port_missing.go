package lint

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/sluicehq/sluice/internal/manifest"
)

func servicePortMissing() Rule {
	return Rule{
		Code: "service-port-missing", Level: Error,
		What: "A Service port whose targetPort is a name that no container of the selected pods has, or a number that none declares although they declare others.",
		Why:  "Requests to this port reach no endpoint, or are refused by the pod.",
		Mend: "Give the container the named port, or make targetPort one that it listens on.",
		run: eachTarget(func(r *repository, t *target) []Finding {
			var found []Finding
			all := t.pods()
			for _, s := range t.services() {
				if selected := selecting(s, all); len(selected) > 0 {
					found = append(found, missingPorts(r, t, s, selected)...)
				}
			}
			return found
		}),
	}
}

func missingPorts(r *repository, t *target, service manifest.Object, selected []pods) []Finding {
	names, numbers := map[string]bool{}, map[string]bool{}
	for _, p := range selected {
		p.containers(func(container map[string]any, _ []string) {
			for _, port := range list(container, "ports") {
				names[text(port, "name")] = true
				numbers[number(dig(port, "containerPort"))] = true
			}
		})
	}
	var found []Finding
	for i, port := range list(service.Content, "spec", "ports") {
		target, isName := dig(port, "targetPort").(string)
		if _, err := strconv.Atoi(target); err == nil {
			isName = false
		}
		if !isName {
			target = cmp.Or(number(dig(port, "targetPort")), target, number(dig(port, "port")))
		}
		message := ""
		switch {
		case isName && !names[target]:
			message = fmt.Sprintf("no container of the selected pods has a port named %s", target)
		case !isName && len(numbers) > 0 && !numbers[target]:
			message = fmt.Sprintf("the selected pods declare ports, but not %s", target)
		default:
			continue
		}
		found = append(found, r.find(t, service.ID, []string{"spec", "ports", strconv.Itoa(i), "targetPort"}, message))
	}
	return found
}

// number writes a whole number; empty for anything else.
func number(value any) string {
	switch n := value.(type) {
	case int64:
		return strconv.FormatInt(n, 10)
	case float64:
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return ""
}
