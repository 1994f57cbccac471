package lint_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/sluicehq/sluice/internal/lint"
	"github.com/sluicehq/sluice/internal/manifest"
)

// FuzzRun holds that no file, whatever it is, makes the lint fail.
func FuzzRun(f *testing.F) {
	cases, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range cases {
		for _, archived := range readArchive(f, file).files {
			f.Add(archived.content)
		}
	}
	f.Fuzz(func(t *testing.T, content string) {
		tree := files(
			"apps/shop/overlays/prod/kustomization.yaml", content,
			"apps/shop/overlays/dev/kustomization.yaml", "resources: [all.yaml]\n",
			"apps/shop/overlays/dev/all.yaml", content,
			"apps/shop/overlays/qa/all.yaml", content,
			lint.SuppressionFile, content,
		)
		targets, err := manifest.Discover(tree, "apps")
		if err != nil {
			t.Fatal(err)
		}
		findings, err := lint.Run(t.Context(), lint.Input{Tree: tree, Targets: targets, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		for _, finding := range findings {
			isTarget := slices.ContainsFunc(targets, func(t manifest.Target) bool { return t.Path == finding.File })
			if finding.Line < 1 || tree[finding.File] == nil && !isTarget {
				t.Errorf("%s is no place", finding)
			}
		}
	})
}
