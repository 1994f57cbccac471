package manifest_test

import (
	"errors"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/manifest"
)

var webObject = manifest.ID{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}

func fieldOf(value any, steps ...string) manifest.Field {
	return manifest.Field{Object: webObject, Path: strings.Join(steps, "."), Steps: steps, Value: value}
}

func replicas(n int64) manifest.Field { return fieldOf(n, "f:spec", "f:replicas") }

func ofContainer(name string, value any, steps ...string) manifest.Field {
	return fieldOf(value, append([]string{"f:spec", "f:template", "f:spec", "f:containers", `k:{"name":"` + name + `"}`}, steps...)...)
}

// TestSetFieldsBytes gives the exact bytes of an overlay's kustomization afterwards.
func TestSetFieldsBytes(t *testing.T) {
	t.Parallel()
	const base = "resources: [../../base]\n"
	for name, tt := range map[string]struct {
		before, after string
		fields        []manifest.Field
	}{
		"a count that is there": {
			base + "replicas:\n  - name: web\n    count: 4 # checked against last year's peak\n",
			base + "replicas:\n  - name: web\n    count: 7 # checked against last year's peak\n",
			[]manifest.Field{replicas(7)},
		},
		"a count in one line": {
			base + "replicas: [{name: web, count: 4}]\n", base + "replicas: [{name: web, count: 0}]\n", []manifest.Field{replicas(0)},
		},
		"a count beside another's": {
			base + "replicas:\n- name: other\n  count: 4\nnamespace: shop\n",
			base + "replicas:\n- name: other\n  count: 4\n- name: web\n  count: 7\nnamespace: shop\n",
			[]manifest.Field{replicas(7)},
		},
		"the first count": {base, base + "replicas:\n- name: web\n  count: 7\n", []manifest.Field{replicas(7)}},
		"CRLF":            {"resources: [../../base]\r\n", "resources: [../../base]\r\nreplicas:\r\n- name: web\r\n  count: 7\r\n", []manifest.Field{replicas(7)}},
		"JSON":            {`{"resources": ["../../base"]}`, `{"resources": ["../../base"], "replicas": [{"name": "web", "count": 7}]}`, []manifest.Field{replicas(7)}},
		"a prefix": {
			base + "namePrefix: eu-\n", base + "namePrefix: eu-\nreplicas:\n- name: web\n  count: 7\n",
			[]manifest.Field{{Object: manifest.ID{Group: "apps", Kind: "Deployment", Name: "eu-web"}, Steps: []string{"f:spec", "f:replicas"}, Value: int64(7)}},
		},
		"a patch": {
			base + "# the end\n",
			base + "# the end\npatches:\n- target: {group: apps, kind: Deployment, name: web}\n  patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata:\n      name: web\n" +
				"    spec:\n      template:\n        spec:\n          containers:\n          - name: c0\n            resources:\n              limits:\n                cpu: \"2\"\n                memory: 1Gi\n",
			[]manifest.Field{ofContainer("c0", "2", "f:resources", "f:limits", "f:cpu"), ofContainer("c0", "1Gi", "f:resources", "f:limits", "f:memory")},
		},
		"a patch beside another, and a count": {
			base + "patches:\n  - path: other.yaml\n",
			base + "patches:\n  - path: other.yaml\n  - target: {group: apps, kind: Deployment, name: web}\n    patch: |-\n      apiVersion: apps/v1\n      kind: Deployment\n" +
				"      metadata:\n        name: web\n      spec:\n        paused: true\nreplicas:\n  - name: web\n    count: 7\n",
			[]manifest.Field{fieldOf(true, "f:spec", "f:paused"), replicas(7)},
		},
		"an element by its place": {
			base + "patches:\n- path: other.yaml\n",
			base + "patches:\n- path: other.yaml\n- target: {group: apps, kind: Deployment, name: web}\n  patch: |-\n    - op: replace\n      path: /spec/template/spec/containers/0/args/1\n      value: fast\n",
			[]manifest.Field{ofContainer("c0", "fast", "f:args", "i:1")},
		},
		"nothing to do": {base + "replicas: [{name: web, count: 4}]\n", base + "replicas: [{name: web, count: 4}]\n", []manifest.Field{replicas(4)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := shop(tt.before, "apps/shop/base/deployment.yaml", deployment("web:1.0")+"        args: [serve, slow]\n---\n"+strings.ReplaceAll(deployment("web:1.0"), "name: web", "name: other"),
				prod+"/other.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {minReadySeconds: 5}\n")
			edit, err := manifest.SetFields(tree, prod, tt.fields)
			if err != nil {
				t.Fatal(err)
			}
			got := tt.before
			if data, edited := edit.Files[prodFile]; edited {
				got = string(data)
			}
			if diff := cmp.Diff(tt.after, got); diff != "" {
				t.Errorf("the kustomization differs (-want +got):\n%s", diff)
			}
			if edit.NoOp != (tt.before == tt.after) {
				t.Errorf("no-op is %v", edit.NoOp)
			}
			again, err := manifest.SetFields(edited(tree, edit), prod, tt.fields)
			if err != nil || !again.NoOp {
				t.Errorf("again: no-op %v, error %v", again.NoOp, err)
			}
		})
	}
}

func edited(tree fstest.MapFS, edit manifest.Edit) fstest.MapFS {
	after := maps.Clone(tree)
	for name, data := range edit.Files {
		after[name] = &fstest.MapFile{Data: data}
	}
	return after
}

// A field that a file of the folder has is set there.
func TestSetFieldsWhereTheyStand(t *testing.T) {
	t.Parallel()
	const patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  template:\n    spec:\n      containers:\n      - name: c0\n        resources:\n          limits: {cpu: '1'} # by hand\n"
	tree := shop("resources: [../../base]\npatches:\n- path: limits.yaml\n", prod+"/limits.yaml", patch)
	edit, err := manifest.SetFields(tree, prod, []manifest.Field{ofContainer("c0", "500m", "f:resources", "f:limits", "f:cpu")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Replace(patch, "'1'", "'500m'", 1), string(edit.Files[prod+"/limits.yaml"])); diff != "" || len(edit.Files) != 1 {
		t.Errorf("%d files, the patch differs:\n%s", len(edit.Files), diff)
	}

	manifests := "kind: Service\napiVersion: v1\nmetadata: {name: web}\n---\n" + deployment("web:1.0") + "        env:\n        - name: MODE\n          value: slow # for now\n"
	plain := files(prod+"/all.yaml", manifests)
	edit, err = manifest.SetFields(plain, prod, []manifest.Field{replicas(3), ofContainer("c0", "fast", "f:env", `k:{"name":"MODE"}`, "f:value")})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(strings.Replace(manifests, "value: slow", "value: fast", 1), "          value: fast # for now\n", "          value: fast # for now\n  replicas: 3\n", 1)
	if diff := cmp.Diff(want, string(edit.Files[prod+"/all.yaml"])); diff != "" {
		t.Errorf("the manifests differ (-want +got):\n%s", diff)
	}
}

func objectOf(t *testing.T, tree fs.FS, kind string) manifest.ID {
	t.Helper()
	r, err := manifest.Render(tree, prod)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range r.Objects {
		if o.Kind == kind {
			return o.ID
		}
	}
	t.Fatalf("no %s is rendered", kind)
	return manifest.ID{}
}

func TestSetFieldsRefuses(t *testing.T) {
	t.Parallel()
	const base = "resources: [../../base]\n"
	helm := helmShop("size: 2\nreplicas: 2\nother: 2\n", "replicas: 2\n", "web:1.0")
	helm["apps/shop/chart/templates/deployment.yaml"].Data = []byte(strings.Replace(deployment("web:1.0"), "spec:\n", "spec:\n  replicas: {{ .Values.replicas }}\n  minReadySeconds: 9\n", 1))
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData: {a: b}\n"
	generated := shop(base + "configMapGenerator: [{name: flags, literals: [a=b]}]\n")
	for name, tt := range map[string]struct {
		tree  fs.FS
		field manifest.Field
		code  manifest.Code
		says  string
	}{
		"an object that is not rendered": {shop(base), manifest.Field{Object: manifest.ID{Kind: "Service", Name: "web"}, Steps: []string{"f:spec", "f:type"}, Value: "NodePort"},
			manifest.BadField, "0 rendered objects are Service web"},
		"another namespace": {shop(base + "namespace: other\n"), replicas(7), manifest.BadField, "shop/web"},
		"a map":             {shop(base), fieldOf("x", "f:spec", "f:template"), manifest.BadField, "no scalar"},
		"no such element":   {shop(base), ofContainer("c9", "x", "f:image"), manifest.BadField, "no scalar"},
		"a Secret": {files(prod+"/all.yaml", secret), manifest.Field{Object: manifest.ID{Kind: "Secret", Name: "web"}, Path: "data.a", Steps: []string{"f:data", "f:a"}, Value: "x"},
			manifest.BadField, "hidden"},
		"a password": {shop(base), ofContainer("c0", "x", "f:env", `k:{"name":"DB_PASSWORD"}`, "f:value"), manifest.BadField, "hidden"},
		"what a later step decides": {shop(base + "commonAnnotations: {owner: shop}\n"), fieldOf("ops", "f:metadata", "f:annotations", "f:owner"),
			manifest.BadField, "something else decides metadata.annotations.owner"},
		"a generated name": {generated, manifest.Field{Object: objectOf(t, generated, "ConfigMap"), Path: "data.a", Steps: []string{"f:data", "f:a"}, Value: "c"},
			manifest.BadField, "data.a of ConfigMap flags-"},
		"a chart's value":    {helm, replicas(7), manifest.BadField, "set the value replicas to 7 there by hand"},
		"a chart's constant": {helm, fieldOf(int64(3), "f:spec", "f:minReadySeconds"), manifest.BadField, "set the value that decides it by hand"},
		"an alias":           {shop("resources: [../../base]\nreplicas: [{name: web, count: &n 4}, {name: web, count: *n}]\n"), replicas(7), manifest.Alias, "shares this entry"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edit, err := manifest.SetFields(tt.tree, prod, []manifest.Field{tt.field})
			var refusal *manifest.Refusal
			if !errors.As(err, &refusal) || tt.code != "" && refusal.Code != tt.code || !strings.Contains(refusal.Message, tt.says) {
				t.Fatalf("files %v, error %v", edit.Files, err)
			}
			t.Log(err)
		})
	}
}
