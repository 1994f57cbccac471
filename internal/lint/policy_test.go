package lint_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/argocd"
	"github.com/sluicehq/sluice/internal/lint"
	"github.com/sluicehq/sluice/internal/manifest"
	"github.com/sluicehq/sluice/internal/promotion"
)

// rules are a policy that ranks one environment and says who syncs it.
type rules struct {
	environment  string
	rank         int
	syncBySluice bool
}

func (r rules) Layout() promotion.Layout {
	return promotion.Layout{Roots: []string{"apps"}, Ranks: map[string]int{r.environment: r.rank}}
}

func (r rules) For(t promotion.Target) promotion.EnvironmentPolicy {
	return promotion.EnvironmentPolicy{SyncBySluice: r.syncBySluice && t.Environment == r.environment && t.Rank == r.rank}
}

func (rules) Zones() []string { return nil }

func (rules) Window(promotion.Target, []string, time.Time) promotion.WindowDecision {
	return promotion.WindowDecision{}
}

// TestPolicy has one Application of the project default that syncs by itself.
func TestPolicy(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		environment string
		policy      promotion.Rules
		want        []string
	}{
		"prod by its name":           {"prod", nil, []string{"default-project-prod", "automated-prod"}},
		"dev by its name":            {"dev", nil, nil},
		"prod by policy":             {"blue", rules{"blue", promotion.RankProd, true}, []string{"default-project-prod", "automated-prod"}},
		"prod, synced by Argo CD":    {"prod", rules{"prod", promotion.RankProd, false}, []string{"default-project-prod"}},
		"no prod by policy":          {"prod", rules{"prod", promotion.RankStaging, false}, nil},
		"staging, synced by Sluice":  {"staging", rules{"staging", promotion.RankStaging, true}, []string{"automated-prod"}},
		"another environment's rank": {"prod", rules{"blue", promotion.RankProd, true}, []string{"default-project-prod"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := "apps/shop/overlays/" + tt.environment
			tree := files(dir+"/namespace.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n",
				"argocd/shop.yaml", "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: shop}\nspec:\n"+
					"  project: default\n  source: {repoURL: https://git.example.com/c, path: "+dir+"}\n  syncPolicy: {automated: {}}\n")
			found, err := argocd.Read(tree)
			if err != nil {
				t.Fatal(err)
			}
			findings, err := lint.Run(t.Context(), lint.Input{
				Tree: tree, Targets: []manifest.Target{{Application: "shop", Environment: tt.environment, Path: dir, Layout: manifest.Plain}},
				Applications: found.Applications, Policy: tt.policy, Now: now,
			})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range findings {
				got = append(got, f.Code)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("codes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestApplicationsOfAnotherRepository(t *testing.T) {
	t.Parallel()
	tree := files("apps/shop/overlays/prod/namespace.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n",
		"argocd/shop.yaml", "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: shop}\nspec:\n"+
			"  source: {repoURL: https://git.example.com/other, path: apps/shop/overlays/prod}\n")
	found, err := argocd.Read(tree)
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]int{"": 1, "git@git.example.com:other.git": 1, "https://git.example.com/config": 0} {
		findings, err := lint.Run(t.Context(), lint.Input{
			Tree: tree, Targets: []manifest.Target{{Environment: "prod", Path: "apps/shop/overlays/prod", Layout: manifest.Plain}},
			Applications: found.Applications, RepositoryURL: address, Now: now,
		})
		if err != nil || len(findings) != want {
			t.Errorf("as %q: %d findings, want %d; error %v", address, len(findings), want, err)
		}
	}
}
