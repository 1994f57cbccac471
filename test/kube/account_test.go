//go:build peers

package kube_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/sluicehq/sluice/internal/cluster"
	"github.com/sluicehq/sluice/internal/promotion"
)

const (
	sluiceAccount = "system:serviceaccount:sluice:sluice"
	engineAccount = "argocd/argocd-application-controller" // as namespace/name, as the configuration has it
)

// shipped applies one of the manifests that Sluice ships.
func (w *world) shipped(file string) {
	w.Helper()
	text, err := os.ReadFile(filepath.Join("../../deploy/kubernetes", file))
	w.must(err)
	w.apply(string(text))
}

// sluice is a client's configuration with a token of the account that Sluice ships.
func (w *world) sluice() *rest.Config {
	w.Helper()
	request := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
		"metadata": map[string]any{"name": "sluice"}, "spec": map[string]any{}}}
	answer, err := w.kube.Client.Resource(serviceAccounts).Namespace("sluice").Create(w.Context(), request, metav1.CreateOptions{}, "token")
	w.must(err)
	token, _, err := unstructured.NestedString(answer.Object, "status", "token")
	w.must(err)
	return w.kube.As(token)
}

// asSluice is what the account that Sluice ships works with.
func (w *world) asSluice(config *rest.Config) cluster.Doctor {
	w.Helper()
	client, err := dynamic.NewForConfig(config)
	w.must(err)
	served, err := discovery.NewDiscoveryClientForConfig(config)
	w.must(err)
	return cluster.Doctor{Discovery: served, Inspector: cluster.Inspector{Name: clusterName, Client: client,
		Kinds: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(served)), Account: engineAccount}}
}

func TestTheAccountThatSluiceShips(t *testing.T) {
	var config *rest.Config
	prepare := func(w *world) {
		w.shipped("account.yaml")
		w.shipped("watch.yaml")
		config = w.sluice()
	}
	w := newWorldWith(t, prepare, func(c *rest.Config) { *c = *config })
	sluice := w.asSluice(config)
	key := promotion.DeploymentKey{Cluster: clusterName, Namespace: "argocd", Name: "shop"}

	w.healthy("shop", web("", settings))
	report := sluice.Look(t.Context())
	if report.Problem != "" || report.Healthy() || report.Account != sluiceAccount || !strings.HasPrefix(report.Server, "v1.") {
		t.Errorf("with the right to watch alone: %+v", report)
	}
	missing := lacking(report)
	for _, right := range []string{"update applications", "get secrets", "get deployments", "patch deployments", "create configmaps", "create subjectaccessreviews"} {
		if next := missing[right]; !strings.Contains(next, "deploy/kubernetes/") {
			t.Errorf("no next step for %s, but %q", right, next)
		}
	}
	if missing["list pods"] != "" || report.DryRun.State != cluster.No || report.Guarded.State != cluster.Unused {
		t.Errorf("list pods: %q, dry run %+v, guarded %+v", missing["list pods"], report.DryRun, report.Guarded)
	}
	run, err := sluice.DryRun(t.Context(), key, desiredOf(w, web("", settings)))
	if err != nil || run.Passed+len(run.Refused) > 0 || !slices.ContainsFunc(run.Unchecked, func(u string) bool { return strings.Contains(u, "may not ask") }) {
		t.Errorf("a dry run without any right: %+v, %v", run, err)
	}

	for _, file := range []string{"sync.yaml", "compare.yaml", "diagnose.yaml", "logs.yaml", "dry-run.yaml"} {
		w.shipped(file)
	}
	w.eventually("the account may do all that Sluice does", func() (bool, string) {
		report = sluice.Look(t.Context())
		return report.Healthy() && len(lacking(report)) == 0 && report.DryRun.State == cluster.Yes && report.Guarded.State == cluster.Yes, report.Guarded.Why + strings.Join(names(lacking(report)), ", ")
	})
	if engine := report.Engines[0]; engine.Name != "Argo CD" || !slices.Equal(engine.Versions, []string{"v1alpha1"}) {
		t.Errorf("engines: %+v", report.Engines)
	}
	w.onlyDryRuns(sluice.Inspector)
	w.worksWith(sluice.Inspector, key)

	w.delete(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicybindings"}, "", "sluice-writes-only-dry-run")
	if report = sluice.Look(t.Context()); report.Guarded.State != cluster.No || report.Healthy() {
		t.Errorf("without the binding it is guarded: %+v", report.Guarded)
	}
}

// onlyDryRuns writes in every way that the account's rights allow.
func (w *world) onlyDryRuns(i cluster.Inspector) {
	w.Helper()
	maps := i.Client.Resource(configMaps).Namespace("shop")
	extra := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "extra"}}}
	denied := func(what string, err error) (bool, string) {
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "Sluice's account may") {
			return false, what + ": " + errorText(err)
		}
		return true, ""
	}
	w.eventually("the policy is in force", func() (bool, string) {
		_, err := maps.Create(w.Context(), extra, metav1.CreateOptions{})
		if err == nil {
			w.delete(configMaps, "shop", "extra")
		}
		return denied("a creation", err)
	})
	_, err := maps.Apply(w.Context(), "settings", &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "settings"}, "data": map[string]any{"level": "debug"}}}, metav1.ApplyOptions{FieldManager: "sluice", Force: true})
	if ok, why := denied("an apply", err); !ok {
		w.Error(why)
	}
	if _, err := maps.Create(w.Context(), extra, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		w.Errorf("a creation with dry-run: %v", err)
	}
	apps := i.Client.Resource(cluster.Applications).Namespace("argocd")
	app, err := apps.Get(w.Context(), "shop", metav1.GetOptions{})
	w.must(err)
	w.must(unstructured.SetNestedField(app.Object, "somewhere-else", "spec", "source", "path"))
	_, err = apps.Update(w.Context(), app, metav1.UpdateOptions{})
	if ok, why := denied("another source of an Application", err); !ok {
		w.Error(why)
	}
	if err := maps.Delete(w.Context(), "settings", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
		w.Errorf("a deletion: %v", err)
	}
}

// worksWith has Sluice do what it does: sync, compare, ask for dry runs, and for the facts of a way back.
func (w *world) worksWith(i cluster.Inspector, key promotion.DeploymentKey) {
	w.Helper()
	w.push("shop", web("", settings, budget))
	head, err := w.git.headNow(w.Context())
	w.must(err)
	w.eventually("Sluice syncs", func() (bool, string) {
		err := w.cluster.Sync(w.Context(), key, promotion.SyncRequest{PromotionID: 7, Revision: head, InitiatedBy: "rita"})
		return err == nil, errorText(err)
	})
	found, err := i.Differences(w.Context(), key, desiredOf(w, web("", settings)))
	if err != nil || len(found.Unread)+len(found.Unchecked)+len(found.Differences) > 0 {
		w.Errorf("differences: %+v, %v", found, err)
	}
	run, err := i.DryRun(w.Context(), key, desiredOf(w, web("", settings, budget)))
	if err != nil || run.Passed != 2 || len(run.Unchecked) > 0 || len(run.Refused) != 1 ||
		!strings.Contains(run.Refused[0], "PodDisruptionBudget.policy shop/web: Argo CD's account argocd/argocd-application-controller may not create poddisruptionbudgets.policy") {
		w.Errorf("dry run: %+v, %v", run, err)
	}
	facts := w.cluster.Facts(w.Context(), key, promotion.Needs{Refs: []promotion.ObjectRef{{Kind: "Secret", Name: "password"}, {Kind: "ConfigMap", Name: "settings", Key: "level"}},
		Workloads: []promotion.Workload{{Kind: "Deployment", Name: "web"}}})
	if len(facts.Unread) > 0 || len(facts.Refs) != 2 {
		w.Errorf("facts: %+v", facts)
	}
}

func desiredOf(w *world, manifests string) promotion.Desired {
	w.Helper()
	objects, err := decode(manifests)
	w.must(err)
	want := promotion.Desired{Namespace: "shop"}
	for _, o := range objects {
		want.Objects = append(want.Objects, o.Object)
	}
	return want
}

// lacking are the rights that a report has no yes for, each with the next step.
func lacking(r cluster.Report) map[string]string {
	missing := map[string]string{}
	for _, w := range r.Rights {
		if w.State != cluster.Yes {
			missing[w.Verb+" "+w.Resource] = w.Next
		}
	}
	return missing
}

func names(m map[string]string) (all []string) {
	for name := range m {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func errorText(err error) string {
	if err == nil {
		return "it was allowed"
	}
	return err.Error()
}
