package demo_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluicehq/sluice/internal/demo"
	"github.com/sluicehq/sluice/internal/manifest"
)

const registryHost = "registry.example.com"

func digestOf(image demo.Image) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(image.Name+image.Version)))
}

func exampleTree(t *testing.T) fstest.MapFS {
	t.Helper()
	files, err := demo.Files(t.Context(), registryHost, func(_ context.Context, i demo.Image) (string, error) { return digestOf(i), nil })
	if err != nil {
		t.Fatal(err)
	}
	tree := fstest.MapFS{}
	for name, data := range files {
		tree[name] = &fstest.MapFile{Data: data}
	}
	return tree
}

// TestExamplePromotes carries a new digest of each example image into each target that runs it: one line changes, and the
// target runs it.
func TestExamplePromotes(t *testing.T) {
	t.Parallel()
	tree := exampleTree(t)
	targets, err := manifest.Discover(tree, "apps")
	if err != nil || len(targets) != 11 {
		t.Fatalf("%d targets, error %v", len(targets), err)
	}
	var unused []string
	for _, image := range demo.Examples() {
		unused = append(unused, registryHost+"/shop/"+image.Name)
	}
	layouts := map[manifest.Layout]bool{}
	for _, target := range targets {
		layouts[target.Layout] = true
		images, err := manifest.NamedImages(tree, target.Path)
		if err != nil || len(images) == 0 {
			t.Fatalf("%s: images %v, error %v", target.Path, images, err)
		}
		for _, image := range images {
			repository := strings.FieldsFunc(image.Reference, func(r rune) bool { return r == '@' })[0]
			repository = strings.TrimSuffix(repository, ":2.0.0")
			unused = slices.DeleteFunc(unused, func(u string) bool { return u == repository })
			next := repository + "@" + digestOf(demo.Image{Name: image.Name, Version: "9.9.9"})
			edit, err := manifest.SetImages(tree, target.Path, []manifest.ImageChange{{Name: image.Name, Target: next}})
			if err != nil {
				t.Errorf("%s %s: %v", target.Path, image.Name, err)
				continue
			}
			changes := manifest.Diff(edit.Before, edit.After)
			if len(changes) != 1 || changes[0].New != next || len(edit.Files) != 1 {
				t.Errorf("%s %s: changes %+v in %d files", target.Path, image.Name, changes, len(edit.Files))
			}
		}
	}
	if len(unused) > 0 || !layouts[manifest.Helm] || !layouts[manifest.Kustomize] {
		t.Errorf("unused images %v, layouts %v", unused, layouts)
	}
}
