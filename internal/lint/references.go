package lint

import (
	"cmp"
	"strconv"

	"github.com/sluicehq/sluice/internal/manifest"
)

// reference is a place in a pod template that needs a ConfigMap or Secret.
type reference struct {
	objectKey          // kind is ConfigMap or Secret
	keys      []string // that it needs; none for all there are
	path      []string
}

// references lists what a pod needs, without what is marked optional.
func (p pods) references() []reference {
	var found []reference
	add := func(kind, name string, from any, keys []string, path ...string) {
		if optional, _ := dig(from, "optional").(bool); name != "" && !optional {
			found = append(found, reference{objectKey{kind, name}, keys, p.at(path...)})
		}
	}
	p.containers(func(c map[string]any, at []string) {
		at = at[len(p.path):]
		for _, env := range list(c, "env") {
			for kind, field := range map[string]string{"ConfigMap": "configMapKeyRef", "Secret": "secretKeyRef"} {
				from := fields(env, "valueFrom", field)
				add(kind, text(from, "name"), from, []string{text(from, "key")}, append(at, "env", text(env, "name"), "valueFrom", field)...)
			}
		}
		for i, env := range list(c, "envFrom") {
			for kind, field := range map[string]string{"ConfigMap": "configMapRef", "Secret": "secretRef"} {
				from := fields(env, field)
				add(kind, text(from, "name"), from, nil, append(at, "envFrom", strconv.Itoa(i), field)...)
			}
		}
	})
	for _, v := range list(p.template, "spec", "volumes") {
		at := []string{"spec", "volumes", text(v, "name")}
		config, secret := fields(v, "configMap"), fields(v, "secret")
		add("ConfigMap", text(config, "name"), config, itemKeys(config), append(at, "configMap")...)
		add("Secret", text(secret, "secretName"), secret, itemKeys(secret), append(at, "secret")...)
		for i, s := range list(v, "projected", "sources") {
			for kind, field := range map[string]string{"ConfigMap": "configMap", "Secret": "secret"} {
				from := fields(s, field)
				add(kind, text(from, "name"), from, itemKeys(from), append(at, "projected", "sources", strconv.Itoa(i), field)...)
			}
		}
	}
	return found
}

func itemKeys(volume map[string]any) []string {
	var keys []string
	for _, item := range list(volume, "items") {
		keys = append(keys, text(item, "key"))
	}
	return keys
}

// provided is a ConfigMap or Secret that a target renders, or makes a
// controller write.
type provided struct {
	object manifest.Object
	keys   map[string]bool // nil when they are not known
}

// provides lists them by the name that pods know them by.
func (t *target) provides() map[objectKey]provided {
	found := map[objectKey]provided{}
	for _, o := range t.rendered.Objects {
		switch o.Kind + "." + o.Group {
		case "ConfigMap.":
			found[objectKey{"ConfigMap", o.Name}] = provided{o, keysOf(fields(o.Content, "data"), fields(o.Content, "binaryData"))}
		case "Secret.":
			found[objectKey{"Secret", o.Name}] = provided{o, keysOf(fields(o.Content, "data"), fields(o.Content, "stringData"))}
		case "SealedSecret.bitnami.com":
			name := cmp.Or(text(o.Content, "spec", "template", "metadata", "name"), o.Name)
			found[objectKey{"Secret", name}] = provided{o, keysOf(fields(o.Content, "spec", "encryptedData"), fields(o.Content, "spec", "template", "data"))}
		case "ExternalSecret.external-secrets.io":
			found[objectKey{"Secret", cmp.Or(text(o.Content, "spec", "target", "name"), o.Name)}] = provided{o, externalKeys(o)}
		case "Certificate.cert-manager.io":
			found[objectKey{"Secret", text(o.Content, "spec", "secretName")}] = provided{o, nil}
		case "VaultStaticSecret.secrets.hashicorp.com", "VaultDynamicSecret.secrets.hashicorp.com", "VaultPKISecret.secrets.hashicorp.com":
			found[objectKey{"Secret", text(o.Content, "spec", "destination", "name")}] = provided{o, nil}
		}
	}
	return found
}

func keysOf(maps ...map[string]any) map[string]bool {
	keys := map[string]bool{}
	for _, m := range maps {
		for key := range m {
			keys[key] = true
		}
	}
	return keys
}

// externalKeys are not known where whole secrets or templates are taken over.
func externalKeys(o manifest.Object) map[string]bool {
	template := fields(o.Content, "spec", "target", "template")
	if list(o.Content, "spec", "dataFrom") != nil || list(template, "templateFrom") != nil {
		return nil
	}
	if data := fields(template, "data"); data != nil && text(template, "mergePolicy") != "Merge" {
		return keysOf(data)
	}
	keys := keysOf(fields(template, "data"))
	for _, entry := range list(o.Content, "spec", "data") {
		keys[text(entry, "secretKey")] = true
	}
	return keys
}
