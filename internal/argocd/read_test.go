package argocd_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sluicehq/sluice/internal/argocd"
)

const everything = `# Argo CD
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: web-prod
  namespace: argocd
  labels: {environment: prod}
  annotations: {team: shop}
spec:
  project: shop
  destination: {name: prod-eu, namespace: web}
  source:
    repoURL: git@git.example.com:shop/config.git
    path: apps/web/overlays/prod
    targetRevision: main
    kustomize:
      namePrefix: eu-
      images: ['web=registry.example.com/web:v1']
      replicas: [{name: web, count: '3'}]
      unknownField: [1]
  syncPolicy:
    automated: {prune: true, selfHeal: true}
    syncOptions: [CreateNamespace=true, RespectIgnoreDifferences=true]
    retry: {limit: 5}
  ignoreDifferences:
  - group: apps
    kind: Deployment
    jsonPointers: [/spec/replicas]
  - kind: Secret
    jqPathExpressions: ['.data["x"]']
    managedFieldsManagers: [controller]
---
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: shop}
spec:
  sourceRepos: ['*']
  syncWindows:
  - {kind: deny, schedule: '0 22 * * *', duration: 8h, timeZone: Europe/Berlin, manualSync: true}
---
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: all}
spec:
  generators:
  - list: {elements: [{name: a}]}
  - pullRequest: {github: {owner: x}}
  template:
    metadata: {name: '{{name}}'}
---
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: not-ours}
`

func TestRead(t *testing.T) {
	t.Parallel()
	found := read(t, files("argocd/all.yaml", everything))
	yes := argocd.Application{
		Name: "web-prod", Namespace: "argocd",
		Labels: map[string]string{"environment": "prod"}, Annotations: map[string]string{"team": "shop"},
		Place: argocd.Place{File: "argocd/all.yaml", Line: 6}, Project: "shop",
		Destination: argocd.Destination{Name: "prod-eu", Namespace: "web"},
		SyncPolicy: argocd.SyncPolicy{
			Automated:   &argocd.Automated{Prune: true, SelfHeal: true},
			SyncOptions: []string{"CreateNamespace=true", "RespectIgnoreDifferences=true"}, Retry: &argocd.Retry{Limit: 5},
		},
		IgnoreDifferences: []argocd.IgnoreDifference{
			{Group: "apps", Kind: "Deployment", JSONPointers: []string{"/spec/replicas"}, Line: 30},
			{Kind: "Secret", JQPathExpressions: []string{`.data["x"]`}, ManagedFieldsManagers: []string{"controller"}, Line: 33},
		},
	}
	if len(found.Applications) != 1 || len(found.Projects) != 1 || len(found.ApplicationSets) != 1 {
		t.Fatalf("found %d Applications, %d AppProjects, %d ApplicationSets", len(found.Applications), len(found.Projects), len(found.ApplicationSets))
	}
	a := found.Applications[0]
	options := cmp.Options{cmpopts.IgnoreUnexported(argocd.Application{}, argocd.Project{}), cmpopts.IgnoreFields(argocd.Application{}, "Sources")}
	if diff := cmp.Diff(yes, a, options); diff != "" {
		t.Error(diff)
	}
	if k := a.Sources[0].Kustomize; len(a.Sources) != 1 || k.NamePrefix != "eu-" || k.Replicas[0].Count.IntValue() != 3 || len(k.Images) != 1 {
		t.Errorf("sources %+v", a.Sources)
	}
	if !a.SyncPolicy.IsAutomated() || !a.SyncPolicy.HasOption("CreateNamespace=true") || a.SyncPolicy.HasOption("Prune=false") {
		t.Errorf("sync policy %+v", a.SyncPolicy)
	}
	wantProject := argocd.Project{
		Name: "shop", Place: argocd.Place{File: "argocd/all.yaml", Line: 37}, SourceRepos: []string{"*"},
		SyncWindows: []argocd.SyncWindow{{Kind: "deny", Schedule: "0 22 * * *", Duration: "8h", TimeZone: "Europe/Berlin", ManualSync: true, Line: 43}},
	}
	if diff := cmp.Diff(wantProject, found.Projects[0], options); diff != "" {
		t.Error(diff)
	}
	if s := found.ApplicationSets[0]; s.Line != 45 || s.Generators[0].List == nil || s.Generators[1].Others[0] != "pullRequest" {
		t.Errorf("ApplicationSet %+v", s)
	}
}

func TestLineOf(t *testing.T) {
	t.Parallel()
	found := read(t, files("a.yaml", everything))
	a, s := found.Applications[0], found.ApplicationSets[0]
	for want, got := range map[int]int{
		6:  a.LineOf(),
		13: a.LineOf("spec", "none"),
		26: a.LineOf("spec", "syncPolicy", "automated", "prune"),
		22: a.LineOf("spec", "source", "kustomize", "images", "0"),
		36: a.LineOf("spec", "ignoreDifferences", "1", "managedFieldsManagers") + 1,
		43: found.Projects[0].LineOf("spec", "syncWindows", "0"),
		51: s.LineOf("spec", "generators", "1"),
	} {
		if got != want {
			t.Errorf("line %d, want %d", got, want)
		}
	}
}

func TestReadWhere(t *testing.T) {
	t.Parallel()
	app := func(name string) string {
		return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: " + name + "}\n"
	}
	tree := files(
		"a.yaml", app("root"), "b/c/d.yml", app("deep"), "b/c/e.json", `{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application"}`,
		".hidden/a.yaml", app("hidden"), "b/.a.yaml", app("hidden"), "b/README.md", app("text"),
		"b/large.yaml", app("large")+strings.Repeat("# ", 1<<19), "b/other.yaml", "apiVersion: argoproj.io/v1\nkind: Application\n",
		"list.yaml", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: listed}}\n- 3\n",
	)
	tree["link.yaml"] = &fstest.MapFile{Data: []byte("a.yaml"), Mode: 0o777 | fs.ModeSymlink}
	for want, folders := range map[string][]string{
		"root deep listed": nil, "deep": {"b"}, "": {"none"}, "deep root listed": {"b/c", "none", "."},
	} {
		found, err := argocd.Read(tree, folders...)
		if err != nil || names(found.Applications) != want || len(found.Problems) > 0 {
			t.Errorf("%v: got %q, want %q; problems %v, error %v", folders, names(found.Applications), want, found.Problems, err)
		}
	}
	listed := read(t, tree).Applications[2]
	if listed.Line != 4 {
		t.Errorf("a listed Application is on line %d", listed.Line)
	}
}

func TestReadProblems(t *testing.T) {
	t.Parallel()
	found, err := argocd.Read(files(
		"template.yaml", "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: {{ .Values.name }}-x}\n",
		"broken.yaml", "a: b\n---\napiVersion: argoproj.io/v1alpha1\nkind: [\n---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: good}\n",
		"wrong.yaml", "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec: {syncPolicy: {automated: {prune: maybe}}}\n",
		"list.yaml", "[argoproj.io/v1alpha1]\n",
		"bomb.yaml", "# argoproj.io/v1alpha1\na: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"+
			"d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e]\n",
	))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range found.Problems {
		got = append(got, p.String())
	}
	want := []string{
		"bomb.yaml:1: its aliases expand without measure",
		"broken.yaml:2: not YAML: did not find",
		"list.yaml:1: not a Kubernetes object: ",
		"template.yaml:1: a template, which is not read before it is rendered",
		`wrong.yaml:1: Application "": spec.syncPolicy.automated.prune cannot be a string`,
	}
	if len(got) != len(want) {
		t.Fatalf("got\n%s", strings.Join(got, "\n"))
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("got %s, want %s", got[i], want[i])
		}
	}
	if names(found.Applications) != "good" || found.Applications[0].Line != 6 {
		t.Errorf("a broken document hides the others: %+v", found.Applications)
	}
}

func TestReadObjects(t *testing.T) {
	t.Parallel()
	object := map[string]any{
		"kind": "Application", "metadata": map[string]any{"name": "a"},
		"spec": map[string]any{"sources": []any{map[string]any{"repoURL": repository, "path": "x"}, map[string]any{"ref": "values"}}},
	}
	a, err := argocd.ReadApplication(object)
	if err != nil || a.Name != "a" || len(a.Sources) != 2 || a.Place != (argocd.Place{}) || a.LineOf("spec") != 0 {
		t.Errorf("got %+v, error %v", a, err)
	}
	if _, err := argocd.ReadProject(object); err == nil {
		t.Error("an Application is read as an AppProject")
	}
	if _, err := argocd.ReadApplicationSet(nil); err == nil {
		t.Error("nothing is read as an ApplicationSet")
	}
}
