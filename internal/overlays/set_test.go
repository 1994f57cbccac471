package overlays_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluicehq/sluice/internal/manifest"
	"github.com/sluicehq/sluice/internal/overlays"
	"github.com/sluicehq/sluice/internal/promotion"
)

const umbrella = "apiVersion: v2\nname: shop-prod\nversion: 0.0.0\ndependencies:\n  - name: site\n    version: 1.0.0 # carried here\n    repository: https://charts.example.com\n"

// charted pins a chart of which the tree has two versions. Of them the newer one has its image elsewhere in the values.
func charted() fstest.MapFS {
	chart := func(version, image string) []string {
		at := "apps/shop/charts/site-" + version
		return []string{at + "/Chart.yaml", "apiVersion: v2\nname: site\nversion: " + version + "\n",
			at + "/values.yaml", "image: {repository: " + web + ", digest: " + oldDigest + "}\nserver: {image: {repository: " + web + ", digest: " + oldDigest + "}}\n",
			at + "/templates/pods.yaml", pod("web", `"{{ .Values.`+image+`.repository }}@{{ .Values.`+image+`.digest }}"`)}
	}
	return tree(append(append(chart("1.0.0", "image"), chart("2.0.0", "server.image")...),
		path+"/Chart.yaml", umbrella, path+"/values.yaml", "# prod\nsite:\n  image:\n    digest: "+oldDigest+"\n")...)
}

func TestSetAChartAndItsImage(t *testing.T) {
	t.Parallel()
	o, before := overlays.Overlays{}, charted()
	w := wanted(web + "@" + newDigest)
	w.Charts = []promotion.Chart{{Name: "site", Version: "2.0.0"}, {Name: "of-another-environment", Version: "1.0.0"}}
	change, err := o.Set(before, path, w)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(change.Files[path+"/Chart.yaml"]), strings.Replace(umbrella, "1.0.0 #", "2.0.0 #", 1); got != want {
		t.Errorf("Chart.yaml is\n%s", got)
	}
	if len(change.After.Images) != 1 || change.After.Images[0].Reference != web+"@"+newDigest {
		t.Errorf("rendered %+v", change.After.Images)
	}
	if old, now := change.Before.Charts, change.After.Charts; !slices.Equal(old, []promotion.Chart{{Name: "site", Version: "1.0.0"}}) ||
		!slices.Equal(now, []promotion.Chart{{Name: "site", Version: "2.0.0"}}) {
		t.Errorf("charts %v, then %v", old, now)
	}
	after := maps.Clone(before)
	for file, data := range change.Files {
		after[file] = &fstest.MapFile{Data: data}
	}
	again, err := o.Set(after, path, w)
	if err != nil || len(again.Files) > 0 || again.After.Hash != change.After.Hash {
		t.Errorf("again: %v, error %v", again.Files, err)
	}
	alone, err := o.Set(before, path, promotion.Wanted{Charts: w.Charts})
	if err != nil || len(alone.Files) != 1 {
		t.Errorf("a chart alone: %v, error %v", alone.Files, err)
	}
	var refusal *manifest.Refusal
	_, err = o.Set(before, path, promotion.Wanted{Images: w.Images, Charts: []promotion.Chart{{Name: "site", Version: "3.0.0"}}})
	if !errors.As(err, &refusal) || refusal.Code != manifest.UnsupportedPlugin || refusal.File != path+"/Chart.yaml" {
		t.Errorf("a version that is not in the tree: %v", err)
	}
	if _, err := o.Set(before, path, promotion.Wanted{Charts: w.Charts[1:]}); err == nil {
		t.Error("a chart that the target does not pin is no error")
	}
}
