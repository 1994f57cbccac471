package lint_test

import (
	"fmt"
	"os"
	"testing"
	"testing/fstest"

	"github.com/sluicehq/sluice/internal/argocd"
	"github.com/sluicehq/sluice/internal/lint"
	"github.com/sluicehq/sluice/internal/manifest"
)

// BenchmarkRun lints 3,000 overlays, of 1,000 applications with a base and an
// Application each, from files on disk.
func BenchmarkRun(b *testing.B) {
	const applications, environments = 1000, 3
	dir := b.TempDir()
	if err := os.CopyFS(dir, monoRepo(applications)); err != nil {
		b.Fatal(err)
	}
	tree := os.DirFS(dir)
	for b.Loop() {
		targets, err := manifest.Discover(tree, "apps")
		if err != nil || len(targets) != applications*environments {
			b.Fatalf("%d targets, error %v", len(targets), err)
		}
		found, err := argocd.Read(tree, "argocd")
		if err != nil {
			b.Fatal(err)
		}
		findings, err := lint.Run(b.Context(), lint.Input{Tree: tree, Targets: targets, Applications: found.Applications, Now: now})
		if err != nil || len(findings) < applications {
			b.Fatalf("%d findings, error %v", len(findings), err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*applications*environments), "ms/overlay")
}

// monoRepo has for each application a Deployment, a Service and a ConfigMap in
// the base, dev, staging and prod overlays, and one Application each.
func monoRepo(applications int) fstest.MapFS {
	tree := fstest.MapFS{}
	add := func(name, format string, args ...any) {
		tree[name] = &fstest.MapFile{Data: fmt.Appendf(nil, format, args...), Mode: 0o644}
	}
	for i := range applications {
		app := fmt.Sprintf("apps/app-%d", i)
		add(app+"/base/kustomization.yaml", "resources: [deployment.yaml, service.yaml]\nconfigMapGenerator:\n- name: settings\n  literals: [color=blue]\n")
		add(app+"/base/deployment.yaml", `apiVersion: apps/v1
kind: Deployment
metadata:
  name: app-%[1]d
spec:
  selector:
    matchLabels: {app: app-%[1]d}
  template:
    metadata:
      labels: {app: app-%[1]d}
    spec:
      containers:
      - name: app
        image: app-%[1]d:1.0
        envFrom:
        - configMapRef: {name: settings}
        ports:
        - {name: http, containerPort: 8080}
`, i)
		add(app+"/base/service.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: app-%[1]d}\nspec:\n  selector: {app: app-%[1]d}\n  ports: [{port: 80, targetPort: http}]\n", i)
		for _, environment := range []string{"dev", "staging", "prod"} {
			overlay := app + "/overlays/" + environment
			add(overlay+"/kustomization.yaml", "namespace: team-%d\nresources: [../../base]\nimages:\n- name: app-%d\n  newTag: 1.%d.0\n", i, i, i)
			add(fmt.Sprintf("argocd/app-%d-%s.yaml", i, environment), `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: app-%[1]d-%[2]s}
spec:
  project: shop
  source: {repoURL: https://git.example.com/config.git, path: %[3]s}
  destination: {name: %[2]s, namespace: team-%[1]d}
`, i, environment, overlay)
		}
	}
	return tree
}
