package manifest_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluicehq/sluice/internal/manifest"
)

func TestChartPins(t *testing.T) {
	t.Parallel()
	const redis = "  - {name: redis, version: ^1.2, repository: https://charts.example.com}\n"
	for name, tt := range map[string]struct{ chart, want string }{
		"pinned":          {umbrella, "web 1.0.0 true"},
		"range":           {strings.Replace(umbrella, "1.0.0\" #", "^1.0.0\" #", 1), "web ^1.0.0 false"},
		"any patch":       {strings.Replace(umbrella, "1.0.0\" #", "1.0\" #", 1), "web 1.0 false"},
		"of the tree":     {strings.Replace(umbrella, "https://charts.example.com", "file://../x", 1), ""},
		"put beside it":   {strings.Replace(umbrella, "https://charts.example.com", "''", 1), "web 1.0.0 true"},
		"several":         {umbrella + redis, "web 1.0.0 true, redis ^1.2 false"},
		"the same twice":  {umbrella + redis + strings.Replace(redis, "redis,", "redis, alias: b,", 1), "web 1.0.0 true, redis ^1.2 false"},
		"none":            {"apiVersion: v2\nname: shop\nversion: 1.0.0\n", ""},
		"null":            {"apiVersion: v2\nname: shop\nversion: 1.0.0\ndependencies: [~]\n", ""},
		"not YAML":        {"a: [\n", ""},
		"from a registry": {strings.Replace(umbrella, "https://", "oci://", 1), "web 1.0.0 true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, pin := range manifest.ChartPins(files(helmProd+"/Chart.yaml", tt.chart), helmProd) {
				got = append(got, fmt.Sprint(pin.Name, " ", pin.Version, " ", pin.Exact()))
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if pins := manifest.ChartPins(shop(withBase), prod); len(pins) > 0 {
		t.Errorf("a Kustomize overlay pins %v", pins)
	}
}

// lock is what Helm writes beside umbrella, with another digest.
const lock = `dependencies:
- name: web
  repository: https://charts.example.com
  version: 1.0.0
digest: sha256:9f3ea4be29a8462d40ad3a4cde1c02d7c2c1c0a0b5a4a0a0a0a0a0a0a0a0a0a0
generated: "2026-01-02T03:04:05.6Z"
`

func TestSetChartVersion(t *testing.T) {
	t.Parallel()
	const own = helmProd + "/Chart.yaml"
	two := strings.ReplaceAll(umbrella, "\n", "\r\n")
	repository := func(chart string, more ...string) fstest.MapFS {
		return with(files(own, chart, helmValues, "web: {image: {digest: "+newDigest+"}}\n",
			"apps/shop/charts/web-1.0.0.tgz", packed(t, "web", "1.0.0"), "apps/shop/charts/web-2.0.0.tgz", packed(t, "web", "2.0.0")), more...)
	}
	for name, chart := range map[string]string{"LF": umbrella, "CRLF": two} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edit, err := manifest.SetChartVersion(repository(chart), helmProd, "web", "2.0.0")
			if err != nil {
				t.Fatal(err)
			}
			if got, want := string(edit.Files[own]), strings.Replace(chart, `"1.0.0"`, `"2.0.0"`, 1); got != want || len(edit.Files) != 1 {
				t.Errorf("got\n%s", got)
			}
			changes := manifest.Diff(edit.Before, edit.After)
			if len(changes) != 1 || changes[0].Old != "1.0.0" || changes[0].New != "2.0.0" || references(edit.After)[0] != target {
				t.Errorf("changes %+v, images %v", changes, references(edit.After))
			}
			again, err := manifest.SetChartVersion(repository(string(edit.Files[own])), helmProd, "web", "2.0.0")
			if err != nil || !again.NoOp || len(again.Files) > 0 {
				t.Errorf("again: no-op %v, error %v", again.NoOp, err)
			}
		})
	}
	edit, err := manifest.SetChartVersion(repository(umbrella, helmProd+"/Chart.lock", lock), helmProd, "web", "2.0.0")
	if err != nil {
		t.Fatal(err)
	}
	// The digest is by the rule that gives what Helm wrote for public charts.
	want := strings.NewReplacer("version: 1.0.0", "version: 2.0.0",
		"9f3ea4be29a8462d40ad3a4cde1c02d7c2c1c0a0b5a4a0a0a0a0a0a0a0a0a0a0", "ba72d64a96f3938fcbea10429c75e80d234ceacb32b48b8fb6ebabe0e270f585").Replace(lock)
	if got := string(edit.Files[helmProd+"/Chart.lock"]); got != want {
		t.Errorf("the lock is\n%s", got)
	}

	for name, tt := range map[string]struct {
		tree           fstest.MapFS
		chart, version string
		code           manifest.Code
	}{
		"not in the tree":     {repository(umbrella), "web", "3.0.0", manifest.UnsupportedPlugin},
		"old not in the tree": {files(own, umbrella), "web", "2.0.0", manifest.UnsupportedPlugin},
		"range":               {repository(umbrella), "web", "^2", manifest.MutableReference},
		"other chart":         {repository(umbrella), "redis", "2.0.0", manifest.PathNotFound},
		"twice":               {repository(umbrella + "  - {name: web, alias: b, version: 1.0.0, repository: x}\n"), "web", "2.0.0", manifest.AmbiguousImage},
		"no pin":              {helmShop("a: b\n", "c: d\n"), "web", "2.0.0", manifest.NoKustomization},
		"kustomization":       {shop(withBase, own, umbrella), "web", "2.0.0", manifest.NoKustomization},
		"no such overlay":     {files("x", ""), "web", "2.0.0", manifest.NoKustomization},
		"anchored":            {repository(strings.Replace(umbrella, `"1.0.0"`, `&v "1.0.0"`, 1) + "    condition: *v\n"), "web", "2.0.0", manifest.Alias},
		"lock of another":     {repository(umbrella, helmProd+"/Chart.lock", "dependencies: []\ndigest: x\n"), "web", "2.0.0", manifest.PathNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edit, err := manifest.SetChartVersion(tt.tree, helmProd, tt.chart, tt.version)
			wantRefusal(t, err, tt.code)
			if len(edit.Files) > 0 {
				t.Error("a refused edit changes files")
			}
		})
	}
}

// TestUmbrellaImage sets an image of a chart that the overlay pins.
func TestUmbrellaImage(t *testing.T) {
	t.Parallel()
	tree := files(helmProd+"/Chart.yaml", umbrella, helmProd+"/charts/web-1.0.0.tgz", packed(t, "web", "1.0.0"), helmValues, "# prod\n")
	edit, err := setShopWeb(tree)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(edit.Files[helmValues]), "# prod\nweb:\n  image:\n    digest: "+newDigest+"\n"; got != want || references(edit.After)[0] != target {
		t.Errorf("got %q, images %v", got, references(edit.After))
	}
}
