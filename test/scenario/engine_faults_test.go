package scenario_test

import (
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

func TestWhatArgoCDDoesNotDeployIsSaidUntilItIsMended(t *testing.T) {
	const name = "argocd/web.yaml"
	w := newWorldOf(t, func(files map[string][]byte) {
		files[name] = []byte("apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: web}\nspec:\n  goTemplate: true\n  generators:\n  - clusters: {}\n" +
			"  template:\n    metadata: {name: 'web-{{.name}}'}\n    spec: {project: shop}\n")
	})
	faults := func() []promotion.EngineFault {
		r, err := w.service.Store.Repository(w.Context(), repository)
		w.must(err)
		return r.EngineFaults
	}
	same(w, "faults", len(faults()), 1)
	same(w, "file", faults()[0].File, name)
	same(w, "line", faults()[0].Line, 7)
	w.contains("the reason", faults()[0].Message, "generator clusters of ApplicationSet web")

	w.inDev("1.1.0") // its commit is of a target's folder alone
	same(w, "faults after a promotion", len(faults()), 1)
	w.edits(name, "clusters: {}", "list: {elements: [{name: one}]}")
	same(w, "faults after it was mended", len(faults()), 0)
}
