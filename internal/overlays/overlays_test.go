package overlays_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluicehq/sluice/internal/overlays"
	"github.com/sluicehq/sluice/internal/promotion"
)

const (
	web       = "registry.example.com/shop/web"
	worker    = "registry.example.com/shop/worker"
	oldDigest = "sha256:ce2b25de08e05059b99f1054253763b0be04002186536083780967e908354a61"
	newDigest = "sha256:8e6c5133caf76053b8a1c4a9a8fcb451860e040427bbeeb339ea181faca2ee68"
	path      = "apps/shop/overlays/prod"
)

func pod(name, image string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\nspec:\n  containers:\n  - name: c\n    image: " + image + " # keep\n"
}

func tree(pairs ...string) fstest.MapFS {
	files := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		files[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return files
}

// layouts are one target, running web and worker, in each layout.
func layouts() map[string]fstest.MapFS {
	return map[string]fstest.MapFS{
		"plain": tree(path+"/web.yaml", pod("web", web+":1.0"), path+"/worker.yaml", "# worker\r\n"+strings.ReplaceAll(pod("worker", worker+"@"+oldDigest), "\n", "\r\n"),
			path+"/proxy.json", `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "proxy"}, "spec": {"containers": [{"name": "c", "image": "proxy:1"}]}}`),
		"kustomize": tree(path+"/kustomization.yaml", "resources: [pods.yaml]\nimages:\n- {name: worker, newName: "+worker+", newTag: v1}\n",
			path+"/pods.yaml", pod("web", web+":1.0")+"---\n"+pod("worker", "worker")+"---\n"+pod("proxy", "proxy:1")),
		"helm": tree("apps/shop/chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n",
			"apps/shop/chart/templates/pods.yaml", pod("web", `"{{ .Values.web.repository }}:{{ .Values.web.tag }}"`)+"---\n"+
				pod("worker", `"{{ .Values.worker.repository }}@{{ .Values.worker.digest }}"`)+"---\n"+pod("proxy", "proxy:1"),
			path+"/values.yaml", "web:\n  repository: "+web+"\n  tag: \"1.0\" # keep\nworker: {repository: "+worker+", digest: "+oldDigest+"}\n"),
	}
}

func wanted(references ...string) promotion.Wanted {
	images := make([]promotion.WantedImage, len(references))
	for i, r := range references {
		images[i] = promotion.WantedImage{Reference: r, Posted: promotion.RepositoryOf(r)}
	}
	return promotion.Wanted{Images: images}
}

// An environment that pulls from its own registry is moved there by the first promotion.
func TestPromoteToAnotherRegistry(t *testing.T) {
	t.Parallel()
	for name, before := range layouts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mirrored := "eu.example.com/mirror/web@" + newDigest
			change, err := overlays.Overlays{}.Set(before, path, promotion.Wanted{Images: []promotion.WantedImage{{Reference: mirrored, Posted: web}}})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(change.After.Images, func(i promotion.RenderedImage) bool { return i.Reference == mirrored }) {
				t.Errorf("rendered %+v", change.After.Images)
			}
		})
	}
}

// TestPromote carries a release of two images into a target of each layout, as a promotion does.
func TestPromote(t *testing.T) {
	t.Parallel()
	for name, before := range layouts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := overlays.Overlays{}
			want := []string{web + "@" + newDigest, worker + "@" + newDigest}
			change, err := o.Set(before, path, wanted(append(want, "registry.example.com/shop/other@"+newDigest)...))
			if err != nil || len(change.Files) == 0 || len(change.Removed) > 0 {
				t.Fatalf("change %+v, error %v", change, err)
			}
			after := tree()
			for file, data := range before {
				after[file] = data
			}
			for file, data := range change.Files {
				after[file] = &fstest.MapFile{Data: data}
			}
			images, err := o.Images(after, path)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, image := range images {
				got = append(got, image.Reference)
			}
			slices.Sort(got)
			if !slices.Equal(got, append([]string{"proxy:1"}, want...)) {
				t.Errorf("the target runs %v", got)
			}
			for _, image := range change.After.Images {
				if image.Name != "proxy" && !slices.Contains(want, image.Reference) {
					t.Errorf("rendered %+v", image)
				}
			}
			compared, err := o.Compare(before, after, path)
			if err != nil || compared.After.Hash != change.After.Hash || compared.Diff != change.Diff || compared.Diff == "" {
				t.Errorf("compared %+v, error %v", compared, err)
			}
			again, err := o.Set(after, path, wanted(want...))
			if err != nil || len(again.Files) > 0 || again.After.Hash != change.After.Hash {
				t.Errorf("again: %d files, error %v", len(again.Files), err)
			}
			if _, err := o.Set(before, path, wanted("other@"+newDigest)); err == nil {
				t.Error("images that the target does not run are no error")
			}
		})
	}
}

func TestCompareDeletions(t *testing.T) {
	t.Parallel()
	const all = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\n---\n" +
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---\n" +
		"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\n---\n" +
		"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x.example.com}\n---\n" +
		"apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"
	full := tree(path+"/all.yaml", all)
	want := []promotion.RemovedObject{
		{Object: "Namespace shop", Stateful: true}, {Object: "PersistentVolumeClaim data", Stateful: true}, {Object: "Service web"},
		{Object: "CustomResourceDefinition.apiextensions.k8s.io x.example.com", Stateful: true}, {Object: "StatefulSet.apps db", Stateful: true},
	}
	for name, after := range map[string]fstest.MapFS{
		"nothing rendered":  tree(path+"/all.yaml", "# nothing any more\n"),
		"empty overlay":     tree(path+"/kustomization.yaml", "resources: [all.yaml]\n", path+"/all.yaml", "# nothing\n"),
		"empty chart":       tree(path+"/values.yaml", "", "apps/shop/chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
		"folder is gone":    tree("apps/shop/README.md", ""),
		"application gone":  tree("README.md", ""),
		"all files but one": tree(path+"/none.yaml", ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change, err := overlays.Overlays{}.Compare(full, after, path)
			if err != nil || !slices.Equal(change.Removed, want) || change.Before.Hash == change.After.Hash {
				t.Errorf("removed %+v, error %v", change.Removed, err)
			}
		})
	}
	back, err := overlays.Overlays{}.Compare(tree("README.md", ""), full, path)
	if err != nil || len(back.Removed) > 0 || back.Diff == "" {
		t.Errorf("a new target: %+v, error %v", back, err)
	}
	if _, err := (overlays.Overlays{}).Compare(full, tree(path+"/all.yaml", "a: [\n"), path); err == nil {
		t.Error("what cannot be rendered renders nothing")
	}
}
