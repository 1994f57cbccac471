package health

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// services finds the first Service of the Application that has no address or leads nowhere. What is scaled to nothing has no pods on purpose.
func (d diagnosis) services() string {
	for _, s := range d.objects.Near.Services {
		if !d.app.deploys(s) {
			continue
		}
		if text(s.Object, "spec", "type") == "LoadBalancer" && len(list(s.Object, "status", "loadBalancer", "ingress")) == 0 {
			return fmt.Sprintf("Service %s waits for an address of a load balancer. Look at its events (kubectl describe service %s): the cluster needs a controller that gives addresses, and one that is free.",
				s.GetName(), s.GetName())
		}
		selector, _, _ := unstructured.NestedStringMap(s.Object, "spec", "selector")
		if len(selector) == 0 {
			continue // somebody else writes its endpoints
		}
		if said := d.service(s, selector); said != "" {
			return said
		}
	}
	return ""
}

func (d diagnosis) service(s *unstructured.Unstructured, selector map[string]string) string {
	pods := selected(present(d.objects.Near.Pods), s.GetNamespace(), selector)
	if len(pods) == 0 {
		if d.scaledToNothing(s.GetNamespace(), selector) {
			return ""
		}
		return fmt.Sprintf("Service %s leads nowhere: no pod has the labels that it selects (%s).%s Correct its selector or the pods' labels.",
			s.GetName(), labels(selector), d.labelsOfPods())
	}
	if !slices.ContainsFunc(pods, ready) {
		return fmt.Sprintf("Service %s has no endpoints: none of the pods that it selects (%s) is ready. Look at their readiness probes.",
			s.GetName(), labels(selector))
	}
	for _, port := range list(s.Object, "spec", "ports") {
		name := text(port, "targetPort")
		if name != "" && !slices.ContainsFunc(pods, func(p *unstructured.Unstructured) bool { return hasPort(p, name) }) {
			return fmt.Sprintf("Service %s has no endpoints for port %d: no container of the pods that it selects has a port of the name %s. Correct targetPort or name the container's port.",
				s.GetName(), number(port, "port"), name)
		}
	}
	return ""
}

// scaledToNothing tells whether a workload that the labels select has been given no pods.
func (d diagnosis) scaledToNothing(namespace string, selector map[string]string) bool {
	return slices.ContainsFunc(d.objects.Workloads, func(w *unstructured.Unstructured) bool {
		given, _, _ := unstructured.NestedStringMap(w.Object, "spec", "template", "metadata", "labels")
		replicas, set, _ := unstructured.NestedInt64(w.Object, "spec", "replicas")
		return w.GetNamespace() == namespace && contains(given, selector) && set && replicas == 0
	})
}

// labelsOfPods names what the Application's own pods are labelled with, as a hint at the mistake.
func (d diagnosis) labelsOfPods() string {
	for _, w := range d.objects.Workloads {
		given, _, _ := unstructured.NestedStringMap(w.Object, "spec", "template", "metadata", "labels")
		if len(given) > 0 {
			return fmt.Sprintf(" Those of %s %s have %s.", w.GetKind(), w.GetName(), labels(given))
		}
	}
	return ""
}

func selected(pods []*unstructured.Unstructured, namespace string, selector map[string]string) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(pods), func(p *unstructured.Unstructured) bool {
		return p.GetNamespace() != namespace || !contains(p.GetLabels(), selector)
	})
}

func contains(all, some map[string]string) bool {
	for name, value := range some {
		if v, there := all[name]; !there || v != value {
			return false
		}
	}
	return true
}

func ready(pod *unstructured.Unstructured) bool {
	return slices.ContainsFunc(list(pod.Object, "status", "conditions"), func(c map[string]any) bool {
		return text(c, "type") == "Ready" && text(c, "status") == "True"
	})
}

func hasPort(pod *unstructured.Unstructured, name string) bool {
	for _, kind := range []string{"containers", "initContainers"} { // a sidecar is an init container that goes on
		for _, c := range list(pod.Object, "spec", kind) {
			if slices.ContainsFunc(list(c, "ports"), func(p map[string]any) bool { return text(p, "name") == name }) {
				return true
			}
		}
	}
	return false
}

func labels(m map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		all = append(all, name+"="+m[name])
	}
	return strings.Join(all, ", ")
}
