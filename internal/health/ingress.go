package health

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ingresses finds the first Ingress of the Application that leads to a Service or a port that is not there.
func (d diagnosis) ingresses() string {
	if !d.objects.Near.Read["Service"] {
		return ""
	}
	for _, ingress := range d.objects.Near.Ingresses {
		if !d.app.deploys(ingress) {
			continue
		}
		for _, b := range backends(ingress) {
			if said := d.backend(ingress, b); said != "" {
				return said
			}
		}
	}
	return ""
}

func (d diagnosis) backend(ingress *unstructured.Unstructured, backend map[string]any) string {
	name := text(backend, "service", "name")
	if name == "" {
		return "" // it leads to something that is no Service
	}
	i := slices.IndexFunc(d.objects.Near.Services, func(s *unstructured.Unstructured) bool {
		return s.GetNamespace() == ingress.GetNamespace() && s.GetName() == name
	})
	if i < 0 {
		return fmt.Sprintf("Ingress %s leads to Service %s, which is not in namespace %s. Correct the name or add the Service.",
			ingress.GetName(), name, ingress.GetNamespace())
	}
	port, _, _ := unstructured.NestedMap(backend, "service", "port")
	ports := list(d.objects.Near.Services[i].Object, "spec", "ports")
	has := slices.ContainsFunc(ports, func(p map[string]any) bool {
		if wanted := text(port, "name"); wanted != "" {
			return text(p, "name") == wanted
		}
		return number(p, "port") == number(port, "number")
	})
	if has || len(port) == 0 || text(d.objects.Near.Services[i].Object, "spec", "type") == "ExternalName" {
		return ""
	}
	wanted := text(port, "name")
	if wanted == "" {
		wanted = fmt.Sprint(number(port, "number"))
	}
	return fmt.Sprintf("Ingress %s leads to port %s of Service %s, which has no such port. Correct the port in one of the two.", ingress.GetName(), wanted, name)
}

func backends(ingress *unstructured.Unstructured) []map[string]any {
	var all []map[string]any
	if b, found, _ := unstructured.NestedMap(ingress.Object, "spec", "defaultBackend"); found {
		all = append(all, b)
	}
	for _, rule := range list(ingress.Object, "spec", "rules") {
		for _, path := range list(rule, "http", "paths") {
			if b, found, _ := unstructured.NestedMap(path, "backend"); found {
				all = append(all, b)
			}
		}
	}
	return all
}
