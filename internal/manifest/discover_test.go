package manifest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/manifest"
)

func TestDiscover(t *testing.T) {
	t.Parallel()
	tree := files(
		"apps/shop/base/kustomization.yaml", "",
		"apps/shop/overlays/prod/kustomization.yaml", "",
		"apps/shop/overlays/prod/values.yaml", "",
		"apps/shop/overlays/dev/kustomization.yml", "",
		"apps/shop/overlays/staging/Kustomization", "",
		"apps/shop/overlays/README.md", "",
		"apps/shop/overlays/notes/README.md", "",
		"apps/shop/overlays/.cache/kustomization.yaml", "",
		"apps/billing/overlays/prod-eu/values-prod.yaml", "",
		"apps/billing/overlays/dev/deployment.yaml", "",
		"apps/library/base/kustomization.yaml", "",
		"other/app/overlays/prod/kustomization.yaml", "",
	)
	tree["apps/linked"] = link("../other/app")
	got, err := manifest.Discover(tree, "apps")
	if err != nil {
		t.Fatal(err)
	}
	want := []manifest.Target{
		{Application: "billing", Environment: "dev", Path: "apps/billing/overlays/dev", Layout: manifest.Plain},
		{Application: "billing", Environment: "prod-eu", Path: "apps/billing/overlays/prod-eu", Layout: manifest.Helm},
		{Application: "shop", Environment: "dev", Path: "apps/shop/overlays/dev", Layout: manifest.Kustomize},
		{Application: "shop", Environment: "staging", Path: "apps/shop/overlays/staging", Layout: manifest.Kustomize},
		{Application: "shop", Environment: "prod", Path: "apps/shop/overlays/prod", Layout: manifest.Kustomize},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
	if none, err := manifest.Discover(tree, "missing"); err != nil || len(none) > 0 {
		t.Errorf("a missing root has targets %v, error %v", none, err)
	}
}

func TestRank(t *testing.T) {
	t.Parallel()
	for rank, names := range map[int][]string{
		manifest.RankDevelopment: {"dev", "Development", "dev-2", "eu-dev", "local", "sandbox1"},
		manifest.RankTest:        {"test", "qa", "qa2", "testing", "integration", "e2e", "test_eu"},
		manifest.RankStaging:     {"staging", "stage", "uat", "preprod", "pre-prod", "pre_production", "nonprod", "non-prod-eu", "staging.us"},
		manifest.RankUnknown:     {"canary", "eu-west-1", "", "products", "devices"},
		manifest.RankProduction:  {"prod", "production", "prod-eu", "eu-prod2", "prd", "live", "PROD", "dev-prod"},
	} {
		for _, name := range names {
			if got := manifest.Rank(name); got != rank {
				t.Errorf("Rank(%q) is %d, want %d", name, got, rank)
			}
		}
	}
}
