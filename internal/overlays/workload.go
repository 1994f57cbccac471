package overlays

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/sluicehq/sluice/internal/manifest"
	"github.com/sluicehq/sluice/internal/promotion"
)

// workload is an object that owns pods, in the domain's terms.
func workload(o manifest.Object, template map[string]any) promotion.Workload {
	spec := fields(o.Content, "spec")
	w := promotion.Workload{Kind: o.Kind, Name: o.Name, Replicas: replicas(o.Kind, spec), Labels: labels(fields(template, "metadata", "labels")),
		NodeSelector: labels(fields(template, "spec", "nodeSelector")),
		Tolerates:    len(list(template, "spec", "tolerations")) > 0, Probed: true, Template: hashOf(template)}
	if selector := fields(spec, "selector"); len(list(selector, "matchExpressions")) == 0 {
		w.Selector = labels(fields(selector, "matchLabels"))
	}
	w.Strategy, w.MaxUnavailable, w.MaxSurge = strategy(o.Kind, spec)
	for _, c := range list(template, "spec", "containers") {
		w.Probed = w.Probed && len(fields(c, "readinessProbe")) > 0
		w.Images = append(w.Images, text(c, "image"))
		requests := fields(c, "resources", "requests")
		w.Requests = append(w.Requests, promotion.PodRequest{CPU: quantity(requests["cpu"]), Memory: quantity(requests["memory"])})
	}
	return w
}

// hashOf tells one pod template from another.
func hashOf(template map[string]any) string {
	text, _ := json.Marshal(template) // of what was read as YAML; keys come in order
	return fmt.Sprintf("%x", sha256.Sum256(text))
}

func replicas(kind string, spec map[string]any) *int {
	n, said := number(spec["replicas"])
	if !said || kind == "DaemonSet" {
		return nil
	}
	return &n
}

func number(value any) (int, bool) {
	switch n := value.(type) {
	case int64:
		return int(n), true
	case float64:
		return int(n), true
	case json.Number:
		i, err := n.Int64()
		return int(i), err == nil
	}
	return 0, false
}

func strategy(kind string, spec map[string]any) (name, maxUnavailable, maxSurge string) {
	field, rolling := "strategy", "rollingUpdate"
	switch kind {
	case "StatefulSet", "DaemonSet":
		field = "updateStrategy"
	case "Rollout":
		s := fields(spec, "strategy")
		if _, canary := s["canary"]; canary {
			return "Canary", "", ""
		}
		return "BlueGreen", "", ""
	}
	s := fields(spec, field)
	if name = text(s, "type"); name == "" {
		name = "RollingUpdate"
	}
	return name, quantity(fields(s, rolling)["maxUnavailable"]), quantity(fields(s, rolling)["maxSurge"])
}

// quantity is a number or a text as Kubernetes writes it, empty for nothing.
func quantity(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// fields follows a path of maps; nil where one of them is none.
func fields(from map[string]any, path ...string) map[string]any {
	for _, name := range path {
		from, _ = from[name].(map[string]any)
	}
	return from
}

func text(from map[string]any, name string) string {
	s, _ := from[name].(string)
	return s
}

func list(from map[string]any, path ...string) []map[string]any {
	last := len(path) - 1
	entries, _ := fields(from, path[:last]...)[path[last]].([]any)
	var all []map[string]any
	for _, e := range entries {
		if m, ok := e.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

func labels(from map[string]any) map[string]string {
	if len(from) == 0 {
		return nil
	}
	all := make(map[string]string, len(from))
	for key := range from {
		all[key] = text(from, key)
	}
	return all
}
