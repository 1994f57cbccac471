package manifest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/sluicehq/sluice/internal/manifest"
)

func render(t *testing.T, kustomization string, more ...string) manifest.Rendered {
	t.Helper()
	rendered, err := manifest.Render(shop(kustomization, more...), prod)
	if err != nil {
		t.Fatal(err)
	}
	return rendered
}

func TestRenderOldAndNewStyle(t *testing.T) {
	t.Parallel()
	const patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 5}\n"
	old := render(t, "bases: [../../base]\npatchesStrategicMerge: [p.yaml]\nimageTags: [{name: web, newTag: v2}]\n", prod+"/p.yaml", patch)
	new := render(t, "resources: [../../base]\npatches: [{path: p.yaml}]\nimages: [{name: web, newTag: v2}]\n", prod+"/p.yaml", patch)
	if old.Hash() != new.Hash() {
		t.Errorf("renderings differ:\n%s", manifest.Text(manifest.Diff(old, new), 0))
	}
	want := manifest.Image{
		Object:    manifest.ID{Group: "apps", Kind: "Deployment", Name: "web"},
		Container: "c0", Path: "spec.template.spec.containers[c0].image", Reference: "web:v2",
	}
	if got := new.Images(); len(got) != 2 || got[0] != want {
		t.Errorf("images %+v, want first %+v", got, want)
	}
	if got := fmt.Sprint(new.Objects[0].Content["spec"].(map[string]any)["replicas"]); got != "5" {
		t.Errorf("replicas %s", got)
	}
}

func TestRenderedHash(t *testing.T) {
	t.Parallel()
	const one, two = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"
	first := render(t, "resources: [a.yaml, b.yaml]\n", prod+"/a.yaml", one, prod+"/b.yaml", two)
	turned := render(t, "resources: [b.yaml, a.yaml]\n", prod+"/a.yaml", one, prod+"/b.yaml", "# other\n"+two)
	if first.Hash() != turned.Hash() || len(first.Hash()) != 64 {
		t.Errorf("hashes %s and %s", first.Hash(), turned.Hash())
	}
	other := render(t, "resources: [a.yaml, b.yaml]\n", prod+"/a.yaml", one+"data: {k: v}\n", prod+"/b.yaml", two)
	if first.Hash() == other.Hash() {
		t.Error("different content has the same hash")
	}
}

func TestRenderedYAML(t *testing.T) {
	t.Parallel()
	rendered := render(t, withBase+webEntry)
	var object map[string]any
	documents := strings.Split(string(rendered.YAML()), "---\n")
	if err := yaml.Unmarshal([]byte(documents[0]), &object); err != nil || len(documents) != 1 {
		t.Fatalf("%d documents, error %v", len(documents), err)
	}
	got, _ := json.Marshal(object)
	want, _ := json.Marshal(rendered.Objects[0].Content)
	if string(got) != string(want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestRenderOwnSchema has one overlay bring a schema that merges a list by
// another key. It must not reach the renderings beside and after it.
func TestRenderOwnSchema(t *testing.T) {
	t.Parallel()
	const patch = "patches:\n- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web}\n" +
		"    spec: {template: {spec: {containers: [{name: c0, image: 'web:patched'}]}}}\n"
	const schema = `{"definitions": {"d": {"properties": {"spec": {"type": "object"}},
		"x-kubernetes-group-version-kind": [{"group": "apps", "version": "v1", "kind": "Deployment"}]}}}`
	want := render(t, withBase+patch).Hash()
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			if i%5 == 0 {
				rendered, err := manifest.Render(shop(withBase+patch+"openapi: {path: s.json}\n", prod+"/s.json", schema), prod)
				if err != nil || rendered.Hash() == want {
					t.Errorf("the schema has no effect, error %v", err)
				}
			} else if rendered, err := manifest.Render(shop(withBase+patch), prod); err != nil || rendered.Hash() != want {
				t.Errorf("another overlay's schema reached this rendering, error %v", err)
			}
		})
	}
	group.Wait()
}

// TestRenderWhatEditsRefuse reads what kustomize reads: the first document, and
// of equal keys the last.
func TestRenderWhatEditsRefuse(t *testing.T) {
	t.Parallel()
	got := render(t, withBase+"images: [{name: web, newTag: v1, newTag: v2}]\n---\nresources: [none]\n")
	if want := render(t, withBase+"images: [{name: web, newTag: v2}]\n"); got.Hash() != want.Hash() {
		t.Errorf("renderings differ:\n%s", manifest.Text(manifest.Diff(want, got), 0))
	}
}

func TestRenderRefuses(t *testing.T) {
	t.Parallel()
	_, err := manifest.Render(shop("resources: [../../base, 'https://example.com/x']\n"), prod)
	wantRefusal(t, err, manifest.RemoteBase)
	_, err = manifest.Render(shop(withBase), "apps/shop/overlays/none")
	wantRefusal(t, err, manifest.NoKustomization)
	_, err = manifest.Render(shop(withBase), "../elsewhere")
	wantRefusal(t, err, manifest.PathEscape)
	_, err = manifest.Render(shop("resources: [missing.yaml]\n"), prod)
	wantRefusal(t, err, manifest.RenderFailed)
	if strings.Contains(err.Error(), "repository-root") {
		t.Errorf("the message shows where the tree is mounted: %v", err)
	}
	for _, generator := range []string{"literals: [hunter2]", "literals: ['=hunter2', a=b]", "literals: {a: hunter2}"} {
		_, err = manifest.Render(shop("secretGenerator: [{name: s, "+generator+"}]\n"), prod)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the message shows a secret: %v", generator, err)
		}
	}
}

func TestImagesOfOtherKinds(t *testing.T) {
	t.Parallel()
	rendered := render(t, "resources: [all.yaml]\n", prod+"/all.yaml", `
apiVersion: example.com/v1
kind: WebApp
metadata: {name: app}
spec: {image: "app:1", sidecar: {name: x, image: "side:1"}}
---
apiVersion: v1
kind: Pod
metadata: {name: pod}
spec:
  initContainers: [{name: i, image: "init:1"}]
  volumes: [{name: v, image: {reference: "model:1"}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {image: "none:1"}
`)
	var got []string
	for _, image := range rendered.Images() {
		got = append(got, image.Object.Kind+" "+image.Container+" "+image.Path+" "+image.Reference)
	}
	want := []string{
		"Pod i spec.initContainers[i].image init:1",
		"Pod  spec.volumes[v].image.reference model:1",
		"WebApp  spec.image app:1",
		"WebApp  spec.sidecar.image side:1",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
