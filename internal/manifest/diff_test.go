package manifest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/manifest"
)

func objects(t testing.TB, documents string) manifest.Rendered {
	t.Helper()
	rendered, err := manifest.Render(files("d/a.yaml", documents), "d")
	if err != nil {
		t.Fatal(err)
	}
	return rendered
}

func TestDiff(t *testing.T) {
	t.Parallel()
	before := objects(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  template: {spec: {containers: [{name: web, image: "web:1", args: [a, b]}]}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: gone}
`)
	after := objects(t, `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {app.kubernetes.io/name: web}}
spec:
  replicas: 3
  template: {spec: {containers: [{name: proxy, image: "proxy:1"}, {name: web, image: "web:2", args: [a, c, d]}]}}
`)
	const want = `- ConfigMap gone
- PersistentVolumeClaim shop/data (holds data)
+ Service shop/web
~ Deployment.apps shop/web
    metadata.labels
      + {"app.kubernetes.io/name":"web"}
    spec.replicas
      - 2
      + 3
    spec.template.spec.containers[proxy]
      + {"image":"proxy:1","name":"proxy"}
    spec.template.spec.containers[web].args[1]
      - b
      + c
    spec.template.spec.containers[web].args[2]
      + d
    spec.template.spec.containers[web].image
      - web:1
      + web:2
`
	changes := manifest.Diff(before, after)
	if diff := cmp.Diff(want, manifest.Text(changes, 0)); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if got := manifest.Text(changes, 3); !strings.HasSuffix(got, "… and 6 more changes\n") {
		t.Errorf("cut text:\n%s", got)
	}
	if same := manifest.Diff(before, before); len(same) > 0 {
		t.Errorf("a rendering differs from itself: %v", same)
	}
}

// TestDiffHides changes credentials in every place that they are known to be
// in. Neither the text nor the JSON of the changes may show one.
func TestDiffHides(t *testing.T) {
	t.Parallel()
	write := func(side string) string {
		return strings.ReplaceAll(`
apiVersion: v1
kind: Secret
metadata: {name: s, annotations: {kubectl.kubernetes.io/last-applied-configuration: "hunter-SIDE"}}
data: {user: hunter-SIDE}
stringData: {config.yaml: "a: hunter-SIDE"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data:
  DB_PASSWORD: hunter-SIDE
  url: "postgres://app:hunter-SIDE@db/shop"
  key: "-----BEGIN RSA PRIVATE KEY-----\nhunter-SIDE\n"
  app.properties: |
    shown=SIDE
    db.password=hunter-SIDE
    same.token=hunter-same
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
      - name: web
        image: web:SIDE
        args: [--port=80, --api-key=hunter-SIDE]
        env:
        - {name: API_TOKEN, value: hunter-SIDE}
        - {name: API_TOKEN, value: hunter-two-SIDE}
        - {name: LOG_LEVEL, value: debug-SIDE}
        - {name: PASSWORD_FILE, value: /run/SIDE}
        - {name: X, valueFrom: {secretKeyRef: {name: name-SIDE, key: password}}}
        - {name: PIN_TOKEN, value: "SIDE"}
---
apiVersion: example.com/v1
kind: Thing
metadata: {name: added-SIDE}
spec: {secretName: ref-SIDE, settings: {adminPassword: hunter-SIDE}}
`, "SIDE", side)
	}
	before, after := objects(t, write("one")), objects(t, write("two"))
	changes := manifest.Diff(before, after)
	data, err := json.Marshal(changes)
	if err != nil {
		t.Fatal(err)
	}
	text := manifest.Text(changes, 0)
	if strings.Contains(text+string(data), "hunter") {
		t.Errorf("a credential is shown:\n%s", text)
	}
	for _, shown := range []string{
		"DB_PASSWORD\n      - (hidden, before)\n      + (hidden, after)\n",
		"- shown=one\n      - (hidden, before)\n", "image\n      - web:one\n      + web:two\n",
		"- debug-one", "- /run/one", "- name-one",
	} {
		if !strings.Contains(text, shown) {
			t.Errorf("%q is not shown:\n%s", shown, text)
		}
	}
	redacted := string(manifest.Redact(after).YAML())
	if strings.Contains(redacted, "hunter") || !strings.Contains(redacted, "secretName: ref-two") {
		t.Errorf("redacted:\n%s", redacted)
	}
	if !strings.Contains(string(after.YAML()), "hunter") {
		t.Error("redacting changed the rendering itself")
	}
}

func TestNewSecrets(t *testing.T) {
	t.Parallel()
	secret := func(name, rest string) string {
		return "---\napiVersion: v1\nkind: Secret\nmetadata: {name: " + name + "}\n" + rest
	}
	before := objects(t, secret("old", "data: {a: cGFzcw==}\n")+secret("decrypted", "data: {a: 'ENC[AES256_GCM,data:x]'}\nsops: {version: 3}\n"))
	after := objects(t, secret("old", "data: {a: b3RoZXI=}\n")+
		secret("decrypted", "data: {a: cGFzcw==}\n")+
		secret("plain", "stringData: {a: pass}\n")+
		secret("sops", "stringData: {a: 'ENC[AES256_GCM,data:x]'}\nsops: {version: 3}\n")+
		secret("empty", "type: Opaque\n")+
		secret("placeholder", "stringData: {a: '<path:kv/data/shop#pass>', b: '${PASS}'}\n"))
	var names []string
	for _, id := range manifest.NewSecrets(before, after) {
		names = append(names, id.Name)
	}
	if got := strings.Join(names, " "); got != "decrypted plain" {
		t.Errorf("new secrets %s", got)
	}
}
