package health

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// reference is where a container or a pod takes something from a Secret or a ConfigMap that it cannot do without.
type reference struct {
	kind, name string
	key        string // empty: all of it
	by         string // container or volume, for people
	container  string // whose environment it goes into, where it stays as it was at the start; empty: it is mounted
}

// missingConfig finds the first Secret, ConfigMap or key that pods need and that is not there.
func (d diagnosis) missingConfig() string {
	for _, w := range d.objects.Workloads {
		template, _, _ := unstructured.NestedMap(w.Object, "spec", "template", "spec")
		for _, r := range references(template) {
			if !d.objects.Near.Read[r.kind] {
				continue
			}
			held := d.objects.Near.config(r.kind, w.GetNamespace(), r.name)
			if held == nil {
				return fmt.Sprintf("%s %s needs %s %s (%s), which is not in namespace %s. Add it, or correct the name.", w.GetKind(), w.GetName(), r.kind, r.name, r.by, w.GetNamespace())
			}
			if r.key != "" && !hasKey(held, r.key) {
				return fmt.Sprintf("%s %s needs key %s of %s %s (%s), which has no such key. Add the key, or correct its name.", w.GetKind(), w.GetName(), r.key, r.kind, r.name, r.by)
			}
		}
	}
	return ""
}

// outdatedConfig finds the first pod that runs with what a Secret or a ConfigMap held before it was written to.
func (d diagnosis) outdatedConfig() string {
	for _, pod := range present(d.objects.Pods) {
		spec, _, _ := unstructured.NestedMap(pod.Object, "spec")
		for _, r := range references(spec) {
			held := d.objects.Near.config(r.kind, pod.GetNamespace(), r.name)
			if r.container == "" || held == nil {
				continue
			}
			written, began := dataWritten(held), startOf(pod, r.container)
			if !began.IsZero() && began.Before(written) {
				return fmt.Sprintf("Pod %s runs since before %s %s was changed and has the earlier values in the environment of %s. Restart it (kubectl rollout restart) to take the new ones.",
					pod.GetName(), r.kind, r.name, r.by)
			}
		}
	}
	return ""
}

// references are what a pod's spec takes from Secrets and ConfigMaps and has not called optional.
func references(spec map[string]any) []reference {
	var all []reference
	take := func(from map[string]any, field, kind, nameField string, r reference) {
		at, found, _ := unstructured.NestedMap(from, field)
		if !found || at["optional"] == true || text(at, nameField) == "" {
			return
		}
		r.kind, r.name, r.key = kind, text(at, nameField), text(at, "key")
		all = append(all, r)
		for _, item := range list(at, "items") {
			r.key = text(item, "key")
			all = append(all, r)
		}
	}
	for _, kind := range []string{"initContainers", "containers"} {
		for _, c := range list(spec, kind) {
			by := reference{by: "container " + text(c, "name"), container: text(c, "name")}
			for _, e := range list(c, "env") {
				from, _, _ := unstructured.NestedMap(e, "valueFrom")
				take(from, "secretKeyRef", "Secret", "name", by)
				take(from, "configMapKeyRef", "ConfigMap", "name", by)
			}
			for _, e := range list(c, "envFrom") {
				take(e, "secretRef", "Secret", "name", by)
				take(e, "configMapRef", "ConfigMap", "name", by)
			}
		}
	}
	for _, v := range list(spec, "volumes") {
		by := reference{by: "volume " + text(v, "name")}
		take(v, "secret", "Secret", "secretName", by)
		take(v, "configMap", "ConfigMap", "name", by)
		for _, source := range list(v, "projected", "sources") {
			take(source, "secret", "Secret", "name", by)
			take(source, "configMap", "ConfigMap", "name", by)
		}
	}
	return all
}

// config is a Secret or a ConfigMap, nil when it is not known.
func (n Near) config(kind, namespace, name string) *unstructured.Unstructured {
	all := n.ConfigMaps
	if kind == "Secret" {
		all = n.Secrets
	}
	i := slices.IndexFunc(all, func(o *unstructured.Unstructured) bool { return o.GetNamespace() == namespace && o.GetName() == name })
	if i < 0 {
		return nil
	}
	return all[i]
}

func hasKey(o *unstructured.Unstructured, key string) bool {
	for _, field := range []string{"data", "binaryData"} {
		if _, there, _ := unstructured.NestedFieldNoCopy(o.Object, field, key); there {
			return true
		}
	}
	return false
}

// dataWritten is when somebody last wrote to what a Secret or a ConfigMap holds, as its managedFields say; zero when they do not.
func dataWritten(o *unstructured.Unstructured) time.Time {
	var last time.Time
	for _, entry := range list(o.Object, "metadata", "managedFields") {
		fields, _, _ := unstructured.NestedMap(entry, "fieldsV1")
		at, err := time.Parse(time.RFC3339, text(entry, "time"))
		if (fields["f:data"] != nil || fields["f:binaryData"] != nil || fields["f:stringData"] != nil) && err == nil && at.After(last) {
			last = at
		}
	}
	return last
}

// startOf is when a container began to run, zero when it does not run.
func startOf(pod *unstructured.Unstructured, container string) time.Time {
	for _, status := range list(pod.Object, "status", "containerStatuses") {
		if text(status, "name") == container {
			began, _ := time.Parse(time.RFC3339, text(status, "state", "running", "startedAt")) // zero while it does not run
			return began
		}
	}
	return time.Time{}
}
