package manifest_test

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/sluicehq/sluice/internal/manifest"
)

func BenchmarkRender(b *testing.B) {
	tree := shop(withBase + webEntry)
	for b.Loop() {
		renderProd(b, tree)
	}
}

func BenchmarkSetImages(b *testing.B) {
	tree := shop(withBase + webEntry)
	for b.Loop() {
		if _, err := setWeb(tree); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDiscover(b *testing.B) {
	tree := fstest.MapFS{}
	for app := range 2500 {
		for _, environment := range []string{"dev", "test", "staging", "prod"} {
			tree[fmt.Sprintf("apps/app-%d/overlays/%s/kustomization.yaml", app, environment)] = &fstest.MapFile{}
		}
	}
	fsys := writeTree(b, tree)
	for b.Loop() {
		targets, err := manifest.Discover(fsys, "apps")
		if err != nil || len(targets) != 10_000 {
			b.Fatalf("%d targets, error %v", len(targets), err)
		}
	}
}
