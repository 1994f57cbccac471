package lint

import (
	"fmt"
	"strconv"

	"github.com/sluicehq/sluice/internal/manifest"
)

func ingressPortMissing() Rule {
	return Rule{
		Code: "ingress-port-missing", Level: Error,
		What: "An Ingress, HTTPRoute or GRPCRoute that sends requests to a port that the Service does not have. It is a warning where the Service itself is rendered by no target of the environment.",
		Why:  "The route answers 502 or 503 although everything is synced.",
		Mend: "Name a port of the Service's spec.ports, by its number or name as given there; a Gateway API route takes the number only.",
		run: eachTarget(func(r *repository, t *target) []Finding {
			var found []Finding
			for _, o := range t.rendered.Objects {
				for _, b := range backends(o) {
					found = append(found, r.checkBackend(t, o, b)...)
				}
			}
			return found
		}),
	}
}

// backend is a Service port that a route sends requests to.
type backend struct {
	service, namespace string
	port               string // a number or a name; empty where the route need not say
	path               []string
}

func backends(o manifest.Object) []backend {
	var found []backend
	switch {
	case o.Group == "networking.k8s.io" && o.Kind == "Ingress":
		add := func(value any, path ...string) {
			if name := text(value, "service", "name"); name != "" {
				port := fields(value, "service", "port")
				found = append(found, backend{name, o.Namespace, number(port["number"]) + text(port["name"]), path})
			}
		}
		add(dig(o.Content, "spec", "defaultBackend"), "spec", "defaultBackend")
		for i, rule := range list(o.Content, "spec", "rules") {
			for j, p := range list(rule, "http", "paths") {
				add(dig(p, "backend"), "spec", "rules", strconv.Itoa(i), "http", "paths", strconv.Itoa(j), "backend", "service")
			}
		}
	case o.Group == "gateway.networking.k8s.io" && (o.Kind == "HTTPRoute" || o.Kind == "GRPCRoute"):
		for i, rule := range list(o.Content, "spec", "rules") {
			for j, ref := range list(rule, "backendRefs") {
				kind := text(ref, "kind")
				if kind != "" && kind != "Service" || text(ref, "namespace") != "" && text(ref, "namespace") != o.Namespace {
					continue
				}
				found = append(found, backend{text(ref, "name"), o.Namespace, number(dig(ref, "port")),
					[]string{"spec", "rules", strconv.Itoa(i), "backendRefs", strconv.Itoa(j)}})
			}
		}
	}
	return found
}

func (r *repository) checkBackend(t *target, route manifest.Object, b backend) []Finding {
	for _, s := range t.all("", "Service") {
		if s.Name != b.service || !sameNamespace(s.Namespace, b.namespace) {
			continue
		}
		for _, port := range list(s.Content, "spec", "ports") {
			if b.port == number(dig(port, "port")) || b.port == text(port, "name") {
				return nil
			}
		}
		return []Finding{r.find(t, route.ID, b.path, fmt.Sprintf("the Service %s has no port %s", b.service, b.port))}
	}
	if r.stages[t.Environment][objectKey{"Service", b.service}] {
		return nil
	}
	f := r.find(t, route.ID, b.path, fmt.Sprintf("the Service %s is rendered by no target of the environment", b.service))
	f.Level = Warning
	return []Finding{f}
}
