package overlays

import (
	"io/fs"
	"maps"
	"regexp"
	"slices"

	"github.com/sluicehq/sluice/internal/manifest"
	"github.com/sluicehq/sluice/internal/promotion"
)

// generated is what Kustomize adds to the name of a generated ConfigMap or Secret.
var generated = regexp.MustCompile(`-[2456789bcdfghkmt]{10}$`)

// Needs implements promotion.Manifests.
func (o Overlays) Needs(tree fs.FS, path string) (promotion.Needs, error) {
	rendered, err := manifest.Render(tree, path)
	if err != nil {
		return promotion.Needs{}, err
	}
	n := needs{Needs: promotion.Needs{Provides: map[string][]string{}}, names: map[string]string{}}
	for _, object := range rendered.Objects {
		n.provided(object)
	}
	for _, object := range rendered.Objects {
		n.object(object)
	}
	slices.Sort(n.APIs)
	n.APIs = slices.Compact(n.APIs)
	return n.Needs, nil
}

type needs struct {
	promotion.Needs
	names map[string]string // of rendered ConfigMaps and Secrets, Kind/name to the name without what was generated
}

func (n *needs) provided(o manifest.Object) {
	if o.Group != "" || o.Kind != "ConfigMap" && o.Kind != "Secret" {
		return
	}
	name := generated.ReplaceAllString(o.Name, "")
	n.names[o.Kind+"/"+o.Name] = name
	keys := []string{}
	for _, field := range []string{"data", "binaryData", "stringData"} {
		keys = append(keys, slices.Collect(maps.Keys(fields(o.Content, field)))...)
	}
	slices.Sort(keys)
	n.Provides[o.Kind+"/"+name] = slices.Compact(keys)
}

func (n *needs) object(o manifest.Object) {
	version := o.Version
	if o.Group != "" {
		version = o.Group + "/" + version
	}
	n.APIs = append(n.APIs, version+"/"+o.Kind)
	switch o.Kind + "." + o.Group {
	case "Service.":
		if selector := labels(fields(o.Content, "spec", "selector")); len(selector) > 0 {
			n.Services = append(n.Services, promotion.Selection{Name: o.Name, Selector: selector})
		}
	case "ExternalSecret.external-secrets.io":
		n.ExternalSecrets = append(n.ExternalSecrets, o.Name)
	case "SealedSecret.bitnami.com":
		n.SealedSecrets = append(n.SealedSecrets, o.Name)
	case "Deployment.apps", "StatefulSet.apps", "DaemonSet.apps", "Rollout.argoproj.io":
		template := fields(o.Content, "spec", "template")
		n.Workloads = append(n.Workloads, workload(o, template))
		n.pods(fields(template, "spec"))
	case "Job.batch":
		n.pods(fields(o.Content, "spec", "template", "spec"))
	case "CronJob.batch":
		n.pods(fields(o.Content, "spec", "jobTemplate", "spec", "template", "spec"))
	case "Pod.":
		n.pods(fields(o.Content, "spec"))
	}
}

// pods notes what a pod refers to.
func (n *needs) pods(spec map[string]any) {
	if name := text(spec, "serviceAccountName"); name != "" && name != "default" {
		n.ref("ServiceAccount", name, nil, nil)
	}
	for _, s := range list(spec, "imagePullSecrets") {
		n.ref("Secret", text(s, "name"), nil, nil)
	}
	for _, kind := range []string{"initContainers", "containers"} {
		for _, c := range list(spec, kind) {
			n.container(c)
		}
	}
	for _, v := range list(spec, "volumes") {
		n.ref("PersistentVolumeClaim", text(fields(v, "persistentVolumeClaim"), "claimName"), nil, nil)
		n.ref("ConfigMap", text(fields(v, "configMap"), "name"), fields(v, "configMap"), items(fields(v, "configMap")))
		n.ref("Secret", text(fields(v, "secret"), "secretName"), fields(v, "secret"), items(fields(v, "secret")))
		for _, s := range list(fields(v, "projected"), "sources") {
			n.ref("ConfigMap", text(fields(s, "configMap"), "name"), fields(s, "configMap"), items(fields(s, "configMap")))
			n.ref("Secret", text(fields(s, "secret"), "name"), fields(s, "secret"), items(fields(s, "secret")))
		}
	}
}

func (n *needs) container(c map[string]any) {
	for _, env := range list(c, "env") {
		for kind, field := range map[string]string{"ConfigMap": "configMapKeyRef", "Secret": "secretKeyRef"} {
			from := fields(env, "valueFrom", field)
			n.ref(kind, text(from, "name"), from, []string{text(from, "key")})
		}
	}
	for _, env := range list(c, "envFrom") {
		for kind, field := range map[string]string{"ConfigMap": "configMapRef", "Secret": "secretRef"} {
			n.ref(kind, text(fields(env, field), "name"), fields(env, field), nil)
		}
	}
}

// ref notes a reference. One to a whole object that is rendered here is one to each of its keys.
func (n *needs) ref(kind, name string, from map[string]any, keys []string) {
	if name == "" {
		return
	}
	if own, rendered := n.names[kind+"/"+name]; rendered {
		name = own
		if keys == nil {
			keys = n.Provides[kind+"/"+name]
		}
	}
	if len(keys) == 0 {
		keys = []string{""}
	}
	optional, _ := from["optional"].(bool)
	for _, key := range keys {
		if r := (promotion.ObjectRef{Kind: kind, Name: name, Key: key, Optional: optional}); !slices.Contains(n.Refs, r) {
			n.Refs = append(n.Refs, r)
		}
	}
}

func items(volume map[string]any) []string {
	var keys []string
	for _, item := range list(volume, "items") {
		keys = append(keys, text(item, "key"))
	}
	return keys
}
