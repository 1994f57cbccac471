package lint

import (
	"github.com/sluicehq/sluice/internal/manifest"
)

// dig follows keys through maps.
func dig(value any, keys ...string) any {
	for _, key := range keys {
		fields, _ := value.(map[string]any)
		value = fields[key]
	}
	return value
}

func text(value any, keys ...string) string {
	s, _ := dig(value, keys...).(string)
	return s
}

func list(value any, keys ...string) []any {
	l, _ := dig(value, keys...).([]any)
	return l
}

func fields(value any, keys ...string) map[string]any {
	m, _ := dig(value, keys...).(map[string]any)
	return m
}

// pods is what a workload runs.
type pods struct {
	owner    manifest.Object
	template map[string]any // with metadata and spec
	path     []string       // where the template is
}

// podsOf finds the pod template of anything that has one where workloads have
// it, custom ones too.
func podsOf(o manifest.Object) (pods, bool) {
	for _, path := range [][]string{{"spec", "template"}, {"spec", "jobTemplate", "spec", "template"}} {
		if template := fields(o.Content, path...); list(template, "spec", "containers") != nil {
			return pods{o, template, path}, true
		}
	}
	if o.Group == "" && o.Kind == "Pod" {
		return pods{o, o.Content, nil}, true
	}
	return pods{}, false
}

func (t *target) pods() []pods {
	var all []pods
	for _, o := range t.rendered.Objects {
		if p, ok := podsOf(o); ok {
			all = append(all, p)
		}
	}
	return all
}

// containers visits the containers of a pod with their paths.
func (p pods) containers(visit func(container map[string]any, path []string)) {
	for _, kind := range []string{"containers", "initContainers"} {
		for _, c := range list(p.template, "spec", kind) {
			if container, ok := c.(map[string]any); ok {
				visit(container, p.at("spec", kind, text(container, "name")))
			}
		}
	}
}

func (p pods) at(path ...string) []string { return append(append([]string{}, p.path...), path...) }

// sameNamespace tells whether two namespaces may be one: a rendered object
// that names none gets the Application's.
func sameNamespace(a, b string) bool { return a == b || a == "" || b == "" }

// all finds the objects of a kind.
func (t *target) all(group, kind string) []manifest.Object {
	var found []manifest.Object
	for _, o := range t.rendered.Objects {
		if o.Group == group && o.Kind == kind {
			found = append(found, o)
		}
	}
	return found
}
