package manifest_test

import (
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluicehq/sluice/internal/manifest"
)

func TestSeveral(t *testing.T) {
	t.Parallel()
	entry := "images:\n- name: web\n  digest: " + oldDigest + "\n"
	repository := func(more ...string) fstest.MapFS {
		return with(files("base/kustomization.yaml", "resources: [pod.yaml]\n",
			"base/pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: web}]}\n",
			"one/kustomization.yaml", "resources: [../base]\n"+entry, "two/kustomization.yaml", "resources: [../base]\n# two\n"+entry,
			"upon/kustomization.yaml", "resources: [../one]\n"), more...)
	}
	set := func(tree fs.FS, overlay string) (manifest.Edit, error) {
		return manifest.SetImages(tree, overlay, []manifest.ImageChange{{Name: "web", Target: "web@" + newDigest}})
	}

	edits, err := manifest.Several(repository(), []string{"one", "two"}, set)
	if err != nil || len(edits) != 2 {
		t.Fatalf("%d edits, error %v", len(edits), err)
	}
	for i, name := range []string{"one/kustomization.yaml", "two/kustomization.yaml"} {
		e := edits[i]
		if len(e.Files) != 1 || !strings.Contains(string(e.Files[name]), newDigest) ||
			references(e.Before)[0] != "web@"+oldDigest || references(e.After)[0] != "web@"+newDigest {
			t.Errorf("%s: %q, %v, then %v", name, e.Files, references(e.Before), references(e.After))
		}
	}

	shared := repository()
	shared["three"] = &fstest.MapFile{Data: []byte("one"), Mode: fs.ModeSymlink}
	if edits, err = manifest.Several(shared, []string{"one", "three"}, set); err != nil || edits[0].NoOp || edits[1].NoOp || len(edits[1].Files) > 0 ||
		references(edits[1].Before)[0] != "web@"+oldDigest {
		t.Errorf("the same folder by two names: %+v, %v", edits, err)
	}

	_, err = manifest.Several(repository("two/kustomization.yaml", "resources: [../base]\nimages: [\n"), []string{"one", "two"}, set)
	wantRefusal(t, err, manifest.BadKustomization)
	_, err = manifest.Several(repository(), []string{"one", "gone"}, set)
	wantRefusal(t, err, manifest.NoKustomization)

	// What one edit does, another undoes: each is right alone, and together they are refused.
	want := map[string]string{"one": newDigest, "three": oldDigest}
	quarrel := maps.Clone(shared)
	_, err = manifest.Several(quarrel, []string{"one", "three"}, func(tree fs.FS, overlay string) (manifest.Edit, error) {
		return manifest.SetImages(tree, overlay, []manifest.ImageChange{{Name: "web", Target: "web@" + want[overlay]}})
	})
	wantRefusal(t, err, manifest.UnintendedChange)
}
