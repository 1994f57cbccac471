package scenario_test

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

func TestAnApplicationThatReplacesTheImageIsNamed(t *testing.T) {
	for name, more := range map[string]map[string]any{
		"an image": {"kustomize": map[string]any{"images": []any{"web=registry.example.test/shop/web:pinned"}}},
		"a patch": {"kustomize": map[string]any{"patches": []any{map[string]any{
			"target": map[string]any{"kind": "Deployment", "name": "web"},
			"patch":  "- {op: replace, path: /spec/template/spec/containers/0/image, value: example/other:1}"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newProdWorld(t)
			main := w.desired("web", "prod")
			w.sees("web", "prod", synced(main.Commit.SHA), w.running(w.release(main.ReleaseID)), w.adding("web", "prod", more))
			r := w.released("1.1.0", "web")
			p, err := w.asks(r, "prod")
			w.must(err)
			w.settle()
			w.is(p.ID, promotion.StateRequested)
			gate := w.gate(p.ID, promotion.PhaseOpen, promotion.GateRenders)
			same(w, "verdict", gate.Verdict, promotion.Block)
			w.contains("the reason", gate.Reason, "web-prod")
		})
	}
}

func TestAnApplicationThatAddsSomethingElseIsNoTrouble(t *testing.T) {
	w := newProdWorld(t)
	main := w.desired("web", "prod")
	w.sees("web", "prod", synced(main.Commit.SHA), w.running(w.release(main.ReleaseID)),
		w.adding("web", "prod", map[string]any{"kustomize": map[string]any{"namePrefix": "eu-", "images": []any{"other=example/other:1"}}}))
	w.is(w.promotes(w.released("1.1.0", "web"), "prod"), promotion.StateOpen)
}

func TestAnEnvironmentMayPullFromItsOwnRegistry(t *testing.T) {
	w := newWorld(t)
	mirror := w.images.host + "/mirror"
	w.clone().Push("main", "sluice.yaml", "version: 1\nenvironments:\n  dev:\n    registries: {"+w.images.host+"/shop: "+mirror+"}\n")
	w.settle()
	r := w.released("1.1.0", "web")
	digest := r.Artifacts[0].Digest
	w.settle()
	p := w.promotion(w.newest("web", "dev"))
	gate := w.gate(p.ID, promotion.PhaseOpen, promotion.GateArtifactAvailable)
	same(w, "verdict while the mirror has it not", gate.Verdict, promotion.Block)
	w.contains("the reason", gate.Reason, mirror+"/web@"+digest)
	w.images.copy(t, "web", digest, mirror+"/web")
	w.lookAtEverything()
	w.is(p.ID, promotion.StateMerged)
	w.contains("main", w.file(overlay("web", "dev")), mirror+"/web", digest)
	same(w, "release of dev", w.desired("web", "dev").ReleaseID, r.ID)
	p = w.promotion(p.ID)
	mirrored := strings.Replace(r.Artifacts[0].Reference(), w.images.host+"/shop", mirror, 1)
	w.sees("web", "dev", synced(p.MergeSHA), healthy, containers(container{mirrored, mirrored}))
	w.is(p.ID, promotion.StateLive)
	same(w, "broken links", strings.Join(w.broken(r), ", "), "")
}
