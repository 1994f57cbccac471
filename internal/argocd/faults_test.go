package argocd_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluicehq/sluice/internal/argocd"
)

func TestFaults(t *testing.T) {
	t.Parallel()
	application := func(name, path, revision string) string {
		return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: " + name + "}\nspec:\n  source: {repoURL: 'https://git.example.com/shop/config.git', path: " +
			path + ", targetRevision: " + revision + "}\n"
	}
	files := fstest.MapFS{}
	for name, text := range tree(
		"argocd/good.yaml", application("good", "apps/web/overlays/prod", "main"),
		"argocd/elsewhere.yaml", strings.Replace(application("elsewhere", "nowhere", "main"), "shop/config", "shop/other", 1),
		"argocd/gone.yaml", application("gone", "apps/web/overlays/qa", "HEAD"),
		"argocd/pinned.yaml", application("pinned", "apps/web/overlays/prod", "v1.2"),
		"argocd/template.yaml", "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  {{ if }}\n",
		"argocd/clusters.yaml", set(true, "  - clusters: {}\n", "{{.name}}", "default"),
		"argocd/folders.yaml", set(true, "  - git: {repoURL: 'https://git.example.com/shop/config', revision: HEAD, directories: [{path: apps/*}]}\n", "{{.path.basename}}", "default"),
	) {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	faults, err := argocd.Engine{}.Faults(files, "git@git.example.com:shop/config", "main")
	if err != nil {
		t.Fatal(err)
	}
	want := []struct{ file, says string }{
		{"argocd/clusters.yaml", "the generator clusters of ApplicationSet all"},
		{"argocd/gone.yaml", "Application gone deploys apps/web/overlays/qa, and there is no such folder"},
		{"argocd/pinned.yaml", "Application pinned is pinned to v1.2"},
		{"argocd/template.yaml", ""},
	}
	for i, f := range faults {
		if i >= len(want) || f.File != want[i].file || f.Line == 0 || f.Message == "" || !strings.Contains(f.Message, want[i].says) {
			t.Errorf("unexpected: %+v", f)
		}
	}
	if len(faults) != len(want) {
		t.Errorf("%d faults, want %d", len(faults), len(want))
	}
	if faults, err := (argocd.Engine{}).Faults(fstest.MapFS{}, "", "main"); err != nil || len(faults) > 0 {
		t.Errorf("an empty repository: %v, %v", faults, err)
	}
}
