package manifest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/manifest"
)

func TestSetImagesPlain(t *testing.T) {
	t.Parallel()
	tree := files(
		prod+"/a.yaml", "# two objects\r\n"+deployment("\"web:1.0\"", "orders:2.0")+"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {image: 'web:1.0'}\n",
		prod+"/b.json", `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"web@`+oldDigest+`"}]}}]}`,
		prod+"/README.md", "web:1.0",
	)
	edit, err := setWeb(tree)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		prod + "/a.yaml": "# two objects\r\n" + deployment("\""+target+"\"", "orders:2.0") + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {image: 'web:1.0'}\n",
		prod + "/b.json": `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"` + target + `"}]}}]}`,
	}
	got := map[string]string{}
	for name, data := range edit.Files {
		got[name] = string(data)
		tree[name].Data = data
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if again, err := setWeb(tree); err != nil || !again.NoOp {
		t.Errorf("the same edit again: no-op %v, error %v", again.NoOp, err)
	}
}

func TestSetImagesPlainRefuses(t *testing.T) {
	t.Parallel()
	pod := func(spec string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n" + spec
	}
	for name, tt := range map[string]struct {
		code    manifest.Code
		content string
	}{
		"image not there":      {manifest.ImageNotFound, deployment("orders:1")},
		"similar name":         {manifest.ImageNotFound, deployment("docker.io/library/web:1")},
		"shared container":     {manifest.Alias, pod("  containers: [&c {name: c, image: 'web:1'}]\n  initContainers: [*c]\n")},
		"anchored reference":   {manifest.Alias, pod("  containers: [{name: c, image: &i 'web:1'}]\n  initContainers: [{name: d, image: *i}]\n")},
		"doubled key":          {manifest.DuplicateKey, pod("  containers: [{name: c, image: 'web:1', image: 'web:2'}]\n")},
		"not a Kubernetes one": {manifest.RenderFailed, "a: b\n"},
		"not YAML":             {manifest.RenderFailed, "a: [\n"},
		"bomb":                 {manifest.TooLarge, bomb},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := setWeb(files(prod+"/a.yaml", tt.content))
			wantRefusal(t, err, tt.code)
		})
	}
}
