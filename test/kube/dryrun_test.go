//go:build peers

package kube_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// dryRuns are what a sync would meet, found without one. Every case also holds settings, which passes.
var dryRuns = map[string]struct {
	prepare   func(w *world, namespace string)
	manifests string
	namespace bool // is made by the same sync, and is not there
	refused   string
	unchecked string
}{
	"taken":         {manifests: web("")},
	"no-rights":     {manifests: budget, refused: "PodDisruptionBudget.policy NS/web: Argo CD's account " + engineAccount + " may not create poddisruptionbudgets.policy"},
	"no-definition": {manifests: strings.ReplaceAll(widget, "Widget", "Gadget"), refused: "Gadget.example.test NS/one: the cluster does not serve this kind"},
	"definition-comes-with-it": {manifests: strings.ReplaceAll(widget, "Widget", "Gear") + "\n---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: gears.example.test}\n" +
		"spec: {group: example.test, scope: Namespaced, names: {plural: gears, kind: Gear}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}\n",
		prepare: func(w *world, _ string) {
			w.apply("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: argo-definitions}\nrules: [{apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: ['*']}]\n" +
				"---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: argo-definitions}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: argo-definitions}\n" +
				"subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: '" + account + "'}]\n")
		}, unchecked: "Gear.example.test NS/one: its kind is defined by the same sync"},
	"namespace-comes-with-it": {manifests: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n", namespace: true,
		unchecked: "ConfigMap NS/more: its namespace NS is made by the same sync"},
	"no-namespace": {manifests: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: nowhere}\n", refused: `ConfigMap nowhere/more: namespaces "nowhere" not found`},
	"selector": {prepare: func(w *world, n string) {
		w.apply(strings.Replace(web(""), "name: web}", "name: web, namespace: "+n+"}", 1))
	}, manifests: other, refused: "field is immutable"},
	"unknown-field": {manifests: strings.Replace(web(""), "  replicas: 2", "  replica: 2", 1),
		refused: ".spec.replica: field not declared in schema"},
	"twice": {manifests: strings.Replace(web(""), "containers: [", "containers: [{name: web, image: other}, ", 1), refused: "duplicate"},
	"wrong-value": {manifests: strings.Replace(web(""), "  replicas: 2", "  replicas: -2", 1),
		refused: "must be greater than or equal to 0"},
	"dry-policy": {prepare: func(w *world, n string) {
		w.apply(fmt.Sprintf(admission, n))
		w.refuses(n, "huge", map[string]any{"size": "huge"}, "no huge ones")
	}, manifests: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: huge, labels: {size: huge}}\n", refused: "ValidatingAdmissionPolicy 'dry-policy' with binding 'dry-policy' denied request: no huge ones"},
	"dry-webhook": {prepare: func(w *world, n string) { w.mutates().in(w, n) },
		manifests: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: unsigned}\n", refused: `admission webhook "mesh.example.test" denied the request: it is not signed`},
	"dry-webhook-away": {prepare: func(w *world, n string) {
		hook := w.mutates()
		hook.in(w, n)
		hook.CloseClientConnections()
		hook.Close()
	}, manifests: web(""), refused: `failed calling webhook "mesh.example.test"`},
}

func TestADryRunSaysWhatASyncWouldMeet(t *testing.T) {
	w := newWorld(t, nil)
	for name, c := range dryRuns {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := w.within(t)
			if !c.namespace {
				w.createNamespace(name)
			}
			w.apply(application(name))
			if c.prepare != nil {
				c.prepare(w, name)
			}
			manifests := c.manifests
			if !c.namespace && name != "dry-webhook-away" {
				manifests += "\n---\n" + settings
			}
			want := w.desired(name, manifests)
			want.CreatesNamespace = c.namespace
			got, err := w.inspector().DryRun(w.Context(), keyOf(name), want)
			w.must(err)
			w.says("refused", got.Refused, strings.ReplaceAll(c.refused, "NS", name))
			w.says("unchecked", got.Unchecked, strings.ReplaceAll(c.unchecked, "NS", name))
			if passed := len(want.Objects) - len(got.Refused) - len(got.Unchecked); got.Passed != passed {
				w.Errorf("%d passed, want %d: %+v", got.Passed, passed, got)
			}
		})
	}
}

// Without the right to ask what Argo CD may do, that is unchecked, and the rest is not.
func TestADryRunWithoutRightsIsUnchecked(t *testing.T) {
	w := newWorld(t, nil)
	const name = "watcher"
	w.createNamespace(name)
	w.apply(application(name))
	inspector := w.inspector()
	inspector.Client = w.as("system:serviceaccount:sluice:sluice")
	w.apply("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: sluice}\nrules: [{apiGroups: [argoproj.io], resources: [applications], verbs: [get]}]\n" +
		"---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: sluice}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: sluice}\n" +
		"subjects: [{kind: ServiceAccount, name: sluice, namespace: sluice}]\n")
	var got promotion.DryRun
	w.eventually("Sluice's account may read the Application", func() (bool, string) {
		var err error
		got, err = inspector.DryRun(w.Context(), keyOf(name), w.desired(name, settings))
		return err == nil, fmt.Sprint(err)
	})
	if got.Passed != 0 || len(got.Refused) != 0 || len(got.Unchecked) != 2 || !strings.Contains(got.Unchecked[0], "Sluice's account may not ask for it") ||
		!strings.Contains(got.Unchecked[1], "what Argo CD's account "+engineAccount+" may do") {
		t.Errorf("a dry run that may not be asked for: %+v", got)
	}
}

// says fails unless one of the findings, the only one, has these words; none of them when there are no words.
func (w *world) says(what string, all []string, words string) {
	w.Helper()
	if words == "" && len(all) > 0 || words != "" && (len(all) != 1 || !strings.Contains(all[0], words)) {
		w.Errorf("%s: %q, want %q", what, all, words)
	}
}

// application is an Argo CD Application that nobody syncs.
func application(name string) string {
	return fmt.Sprintf("apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: %[1]s, namespace: argocd}\n"+
		"spec: {project: default, source: {repoURL: \"https://git.example.test/config.git\", path: %[1]s, targetRevision: main}, destination: {namespace: %[1]s}}\n", name)
}
