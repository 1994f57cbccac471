package argocd_test

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluicehq/sluice/internal/argocd"
	"github.com/sluicehq/sluice/internal/manifest"
)

// componentRepository has one folder of components for all applications, an
// Application file beside each overlay, and one component that only the
// Application adds.
func componentRepository() fstest.MapFS {
	pairs := []string{
		"components/registry/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nimages: [{name: web, newName: registry.example.com/web}]\n",
		"components/high-availability/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nreplicas: [{name: web, count: 5}]\n",
	}
	for _, application := range []string{"cart", "search"} {
		root := "apps/" + application
		pairs = append(pairs, root+"/base/kustomization.yaml", "resources: [deployment.yaml]\n", root+"/base/deployment.yaml", deployment("web"))
		for _, environment := range []string{"dev", "prod"} {
			overlay := root + "/overlays/" + environment
			components := ""
			if environment == "prod" {
				components = ", kustomize: {components: [../../../../components/high-availability]}"
			}
			pairs = append(pairs,
				overlay+"/kustomization.yaml", "namePrefix: "+application+"-\nresources: [../../base]\ncomponents: [../../../../components/registry]\n",
				"argocd/"+environment+"/"+application+".yaml", "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: "+application+"-"+environment+"}\n"+
					"spec: {destination: {name: "+environment+"}, source: "+source(overlay, components)+"}\n")
		}
	}
	return files(pairs...)
}

func TestComponentRepository(t *testing.T) {
	t.Parallel()
	fsys := componentRepository()
	links := argocd.Link(read(t, fsys).Applications, repository, "main")
	targets, err := manifest.Discover(fsys, "apps")
	if err != nil || len(targets) != 4 {
		t.Fatalf("%d targets, error %v", len(targets), err)
	}
	for _, target := range targets {
		linked := links[target.Path]
		if len(linked) != 1 || linked[0].Name != target.Application+"-"+target.Environment || linked[0].Destination.Name != target.Environment {
			t.Errorf("%s is deployed by %+v", target.Path, linked)
			continue
		}
		rendered, err := argocd.Render(fsys, linked[0].Application, here)
		if err != nil || summary(rendered) != "Deployment /"+target.Application+"-web registry.example.com/web" {
			t.Errorf("%s renders %s, error %v", target.Path, summary(rendered), err)
			continue
		}
		replicas := fmt.Sprint(rendered.Objects[0].Content["spec"].(map[string]any)["replicas"])
		if (replicas == "5") != (target.Environment == "prod") {
			t.Errorf("%s has %s replicas", target.Path, replicas)
		}
	}
}

// monoRepository has applications in dev, staging and prod, made by one
// ApplicationSet of a config.yaml in each overlay.
func monoRepository(applications int) fstest.MapFS {
	pairs := []string{"argocd/applications.yaml", `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: applications, namespace: argocd}
spec:
  goTemplate: true
  goTemplateOptions: [missingkey=error]
  generators:
  - git:
      repoURL: https://git.example.com/shop/config
      revision: main
      files: [{path: apps/*/overlays/*/config.yaml}]
  template:
    metadata:
      name: '{{ .application.name }}-{{ .path.basename }}'
      labels: {team: '{{ .application.team }}', environment: '{{ index .path.segments 3 }}'}
    spec:
      project: '{{ dig "project" "default" . }}'
      destination: {name: '{{ .path.basename }}', namespace: '{{ .application.name | lower }}'}
      source: {repoURL: 'https://git.example.com/shop/config', path: '{{ .path.path }}', targetRevision: main}
      syncPolicy: {automated: {prune: true}}
  templatePatch: |
    {{- if eq .path.basename "prod" }}
    spec: {syncPolicy: {automated: null}}
    {{- end }}
`}
	for i := range applications {
		name := fmt.Sprintf("service-%04d", i)
		pairs = append(pairs, "apps/"+name+"/base/kustomization.yaml", "resources: [deployment.yaml]\n", "apps/"+name+"/base/deployment.yaml", deployment(name))
		for _, environment := range []string{"dev", "staging", "prod"} {
			overlay := "apps/" + name + "/overlays/" + environment
			pairs = append(pairs, overlay+"/kustomization.yaml", "resources: [../../base]\n",
				overlay+"/config.yaml", "application: {name: "+name+", team: team-"+fmt.Sprint(i%7)+"}\n")
		}
	}
	return files(pairs...)
}

// linked does all that a look at a repository does.
func linked(t testing.TB, fsys fs.FS, known argocd.Known) map[string][]argocd.Linked {
	found := read(t, fsys)
	e, err := argocd.Expand(fsys, found.ApplicationSets, known)
	if err != nil || len(e.Unexpanded) > 0 || len(e.Notes) > 0 {
		t.Fatalf("unexpanded %v, notes %v, error %v", e.Unexpanded, e.Notes, err)
	}
	return argocd.Link(slices.Concat(found.Applications, e.Applications), known.RepositoryURL, known.Branch)
}

func TestMonoRepository(t *testing.T) {
	t.Parallel()
	links := linked(t, monoRepository(1000), here)
	if len(links) != 3000 {
		t.Fatalf("%d folders are deployed", len(links))
	}
	l := links["apps/service-0042/overlays/prod"][0]
	if l.Name != "service-0042-prod" || l.Project != "default" || l.Labels["team"] != "team-0" || l.Labels["environment"] != "prod" ||
		l.Destination != (argocd.Destination{Name: "prod", Namespace: "service-0042"}) || l.SyncPolicy.Automated != nil || !l.FollowsBase {
		t.Errorf("got %+v", l.Application)
	}
	if l := links["apps/service-0042/overlays/dev"][0]; !l.SyncPolicy.IsAutomated() {
		t.Errorf("got %+v", l.Application)
	}
}

// clusterRepository has an overlay for each cluster of each application, deployed
// to those clusters that Argo CD knows and the application has an overlay for.
func clusterRepository() fstest.MapFS {
	pairs := []string{"bootstrap/set.yaml", `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: per-cluster, namespace: argocd}
spec:
  generators:
  - matrix:
      generators:
      - clusters:
          selector: {matchExpressions: [{key: environment, operator: In, values: [staging, prod]}]}
          values: {environment: '{{metadata.labels.environment}}'}
      - git:
          repoURL: git@git.example.com:shop/config.git
          revision: HEAD
          directories: [{path: 'apps/*/overlays/{{values.environment}}-{{metadata.labels.region}}'}]
  template:
    metadata: {name: '{{path[1]}}-{{nameNormalized}}'}
    spec:
      project: '{{values.environment}}'
      destination: {server: '{{server}}', namespace: '{{path[1]}}'}
      source: {repoURL: 'git@git.example.com:shop/config.git', path: '{{path}}', targetRevision: HEAD}
`}
	for _, application := range []string{"cart", "search"} {
		pairs = append(pairs, "apps/"+application+"/base/kustomization.yaml", "resources: [deployment.yaml]\n", "apps/"+application+"/base/deployment.yaml", deployment("web"))
		for _, overlay := range []string{"prod-eu", "prod-us", "staging-eu", "dev-eu"} {
			if application != "search" || overlay != "prod-us" {
				pairs = append(pairs, "apps/"+application+"/overlays/"+overlay+"/kustomization.yaml", "resources: [../../base]\n")
			}
		}
	}
	return files(pairs...)
}

func TestClusterRepository(t *testing.T) {
	t.Parallel()
	fsys := clusterRepository()
	e := expand(t, fsys, here)
	if len(e.Applications) > 0 || len(e.Unexpanded) != 1 || !strings.Contains(e.Unexpanded[0].Reason, "which clusters Argo CD knows is not known here") {
		t.Errorf("without clusters: %d Applications, unexpanded %v", len(e.Applications), e.Unexpanded)
	}
	known := here
	known.Clusters = []argocd.Cluster{{Name: "in-cluster", Server: server}}
	for _, c := range []struct{ name, environment, region string }{
		{"eu_1", "prod", "eu"}, {"eu_2", "prod", "eu"}, {"us_1", "prod", "us"}, {"stage", "staging", "eu"}, {"dev", "dev", "eu"},
	} {
		known.Clusters = append(known.Clusters, argocd.Cluster{
			Name: c.name, Server: "https://" + c.name, Labels: map[string]string{"environment": c.environment, "region": c.region},
		})
	}
	links := linked(t, fsys, known)
	for path, want := range map[string]string{
		"apps/cart/overlays/prod-eu": "cart-eu-1 https://eu_1, cart-eu-2 https://eu_2", "apps/cart/overlays/prod-us": "cart-us-1 https://us_1",
		"apps/search/overlays/prod-eu": "search-eu-1 https://eu_1, search-eu-2 https://eu_2", "apps/search/overlays/staging-eu": "search-stage https://stage",
		"apps/search/overlays/dev-eu": "", "apps/search/overlays/prod-us": "",
	} {
		var got []string
		for _, l := range links[path] {
			got = append(got, l.Name+" "+l.Destination.Server)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s is deployed by %v, want %s", path, got, want)
		}
	}
}

// BenchmarkMonoRepository reads, expands and links 3,000 Applications of a
// repository on disk: an fstest.MapFS is slow to list.
func BenchmarkMonoRepository(b *testing.B) {
	dir := b.TempDir()
	if err := os.CopyFS(dir, monoRepository(1000)); err != nil {
		b.Fatal(err)
	}
	fsys := os.DirFS(dir)
	for b.Loop() {
		linked(b, fsys, here)
	}
}
