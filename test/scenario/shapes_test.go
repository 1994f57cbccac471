package scenario_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Config repositories as people build them. Nothing of them is registered anywhere.

func kustomization(lines ...string) []byte {
	return []byte("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n" + strings.Join(lines, "\n") + "\n")
}

func TestAComponentBasedRepositoryWorks(t *testing.T) {
	var image string
	w := newWorldOf(t, func(files map[string][]byte) {
		base := string(files["apps/web/base/deployment.yaml"])
		image = imageIn(t, string(files[overlay("web", "dev")]))
		clear(files)
		files["components/high-availability/kustomization.yaml"] = []byte("apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nreplicas:\n- {name: web, count: 3}\n")
		files["components/telemetry/kustomization.yaml"] = []byte("apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations: {telemetry: \"on\"}\n")
		files["apps/web/base/deployment.yaml"] = []byte(base)
		files["apps/web/base/kustomization.yaml"] = kustomization("resources: [deployment.yaml]", "images:", "- name: web", "  newName: "+promotion.RepositoryOf(image), "  digest: "+digestIn(image))
		for _, environment := range []string{"dev", "prod"} {
			files[overlay("web", environment)] = kustomization("resources: [../../base]", "components:", "- ../../../../components/high-availability", "- ../../../../components/telemetry")
		}
	})
	r := w.inDev("1.1.0")
	w.contains("dev's overlay", w.file(overlay("web", "dev")), r.Artifacts[0].Digest)
	if strings.Contains(w.file("apps/web/base/kustomization.yaml"), r.Artifacts[0].Digest) {
		t.Error("the base was edited, which prod shares")
	}
	w.is(w.promotes(r, "prod"), promotion.StateOpen)
	sha := w.edits("components/telemetry/kustomization.yaml", `"on"`, `"off"`)
	same(w, "commit that changed prod", w.desired("web", "prod").Commit.SHA, sha)
}

// imageIn is the reference that an example overlay sets.
func imageIn(t *testing.T, overlay string) string {
	t.Helper()
	var name, digest string
	for line := range strings.Lines(overlay) {
		line = strings.TrimSpace(line)
		if value, ok := strings.CutPrefix(line, "newName: "); ok {
			name = value
		}
		if value, ok := strings.CutPrefix(line, "digest: "); ok {
			digest = value
		}
	}
	if name == "" || digest == "" {
		t.Fatalf("no image in %s", overlay)
	}
	return name + "@" + digest
}

func TestARepositoryOfAThousandApplicationsWorks(t *testing.T) {
	const applications = 1000
	w := newWorldOf(t, func(files map[string][]byte) {
		clear(files)
		for n := range applications {
			name := fmt.Sprintf("app-%04d", n)
			image := "registry.example.test/shop/" + name
			files["apps/"+name+"/base/deployment.yaml"] = []byte(deployment(name, name+":placeholder"))
			files["apps/"+name+"/base/kustomization.yaml"] = kustomization("resources: [deployment.yaml]")
			for _, environment := range []string{"dev", "staging", "prod"} {
				files[overlay(name, environment)] = kustomization("resources: [../../base]", "images:", "- name: "+name, "  newName: "+image,
					fmt.Sprintf("  digest: sha256:%064x", n+1))
			}
		}
	})
	targets, err := w.service.Store.Targets(w.Context())
	w.must(err)
	same(w, "targets", len(targets), 3*applications)
	old := w.desired("app-0500", "dev")
	same(w, "release", w.release(old.ReleaseID).Artifacts[0].Repository, "registry.example.test/shop/app-0500")

	before := w.count("SELECT count(*) FROM target_revisions")
	w.edits(overlay("app-0500", "dev"), fmt.Sprintf("%064x", 501), strings.Repeat("b", 64))
	same(w, "new revisions after one edit", w.count("SELECT count(*) FROM target_revisions"), before+1)
	w.clone().Push("main", "apps/app-new/overlays/dev/deployment.yaml", deployment("app-new", "registry.example.test/shop/new@sha256:"+strings.Repeat("c", 64)))
	w.settle()
	same(w, "release of the new application", w.release(w.desired("app-new", "dev").ReleaseID).Artifacts[0].Repository, "registry.example.test/shop/new")
}

// One overlay for each cluster, which a cluster generator makes an Application of.
func TestARepositoryOfSeveralClustersWorks(t *testing.T) {
	w := newWorldOf(t, func(files map[string][]byte) {
		prod := files[overlay("web", "prod")]
		delete(files, overlay("web", "prod"))
		for _, region := range []string{"eu", "us"} {
			files[overlay("web", "prod-"+region)] = prod
		}
		files["argocd/web.yaml"] = []byte(`apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: web, namespace: argocd}
spec:
  goTemplate: true
  generators: [{clusters: {selector: {matchLabels: {stage: prod}}}}]
  template:
    metadata: {name: "web-{{.name}}"}
    spec:
      project: shop
      source: {repoURL: https://git.example.test/shop.git, path: "apps/web/overlays/{{.name}}", targetRevision: main}
      destination: {name: "{{.name}}"}
`)
	})
	r := w.inStaging("1.1.0")
	ids := map[string]int64{}
	for _, region := range []string{"prod-eu", "prod-us"} {
		w.service.Clusters[region] = w.cluster
		main := w.desired("web", region)
		w.seesIn(region, "web", region, synced(main.Commit.SHA), healthy, w.running(w.release(main.ReleaseID)), manual)
		ids[region] = w.promotes(r, region)
		w.approves(ada, ids[region])
		w.merges(rita, ids[region])
	}
	eu := w.promotion(ids["prod-eu"])
	w.seesIn("prod-eu", "web", "prod-eu", synced(eu.MergeSHA), healthy, w.running(r))
	w.is(ids["prod-eu"], promotion.StateLive)
	w.is(ids["prod-us"], promotion.StateSyncing)
}

func manual(o *promotion.Observation) { o.AutomatedSync = false }
