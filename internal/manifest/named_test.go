package manifest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/manifest"
)

func TestNamedImages(t *testing.T) {
	t.Parallel()
	tree := shop(withBase+webEntry+"configMapGenerator: [{name: c, literals: [image=none]}]\n",
		"apps/shop/base/kustomization.yaml", "resources: [deployment.yaml]\nimages: [{name: orders, newName: ghcr.io/shop/orders}]\n",
		"plain/pod.yaml", deployment("web:1", "web:1", "other@"+oldDigest),
	)
	for overlay, want := range map[string][]manifest.NamedImage{
		prod:    {{Name: "ghcr.io/shop/orders", Reference: "ghcr.io/shop/orders:2.0"}, {Name: "web", Reference: shopWeb + ":v1"}},
		"plain": {{Name: "other", Reference: "other@" + oldDigest}, {Name: "web", Reference: "web:1"}},
	} {
		got, err := manifest.NamedImages(tree, overlay)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", overlay, diff)
		}
	}
	_, err := manifest.NamedImages(shop("resources: ['https://example.com/x.yaml']\n"), prod)
	wantRefusal(t, err, manifest.RemoteBase)
}
