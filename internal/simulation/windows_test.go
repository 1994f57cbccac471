package simulation_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// window gives web-prod's project one sync window. It is noon.
func (w *world) window(window map[string]any) {
	w.t.Helper()
	window["duration"] = "2h"
	project := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject",
		"metadata": map[string]any{"name": "default", "namespace": "argocd"}, "spec": map[string]any{"syncWindows": []any{window}}}}
	at := w.simulation.Client().Resource(schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "appprojects"}).Namespace("argocd")
	if err := at.Delete(w.t.Context(), "default", metav1.DeleteOptions{}); err != nil {
		w.t.Logf("there was none: %v", err)
	}
	if _, err := at.Create(w.t.Context(), project, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

const (
	aroundNoon = "0 11 * * *"
	atNight    = "0 2 * * *"
)

func TestSyncWindowsOfAProject(t *testing.T) {
	about := []any{"web-*"}
	for name, test := range map[string]struct {
		window    map[string]any
		automatic bool // is synced by Argo CD by itself
		asked     bool // is synced when somebody asks
	}{
		"an active deny window":                      {map[string]any{"kind": "deny", "schedule": aroundNoon, "applications": about}, false, false},
		"a deny window that is not active":           {map[string]any{"kind": "deny", "schedule": atNight, "applications": about}, true, true},
		"a deny window that lets asking through":     {map[string]any{"kind": "deny", "schedule": aroundNoon, "manualSync": true, "applications": about}, false, true},
		"a deny window of others":                    {map[string]any{"kind": "deny", "schedule": aroundNoon, "applications": []any{"shop-*"}}, true, true},
		"a deny window of the namespace":             {map[string]any{"kind": "deny", "schedule": aroundNoon, "namespaces": []any{"web-prod"}}, false, false},
		"a deny window in another zone":              {map[string]any{"kind": "deny", "schedule": "0 20 * * *", "timeZone": "Asia/Tokyo", "applications": about}, false, false},
		"an active allow window":                     {map[string]any{"kind": "allow", "schedule": aroundNoon, "applications": about}, true, true},
		"an allow window that is not active":         {map[string]any{"kind": "allow", "schedule": atNight, "applications": about}, false, false},
		"an idle allow window that lets asking pass": {map[string]any{"kind": "allow", "schedule": atNight, "manualSync": true, "applications": about}, false, true},
	} {
		for _, automated := range []bool{true, false} {
			t.Run(name+map[bool]string{true: ", automatic", false: ", asked for"}[automated], func(t *testing.T) {
				inWorld(t, automated, func(t *testing.T, w *world) {
					w.step(settled)
					w.window(test.window)
					w.publish("1.1.0", false)
					w.push(2, web("1.1.0"))
					want := test.automatic
					if !automated {
						want = test.asked
						if err := w.sync(7, commit(2)); err != nil {
							t.Fatal(err)
						}
					}
					w.step(settled)
					if o := w.last(); live(o, commit(2), "1.1.0") != want {
						t.Errorf("live is to be %t: %s %s, %s", want, o.Sync, o.Revision, o.Message)
					}
				})
			})
		}
	}
}

// What a window holds back would start by itself hours later: Sluice has it terminated.
func TestAnOperationThatIsHeldBackIsTerminated(t *testing.T) {
	inWorld(t, false, func(t *testing.T, w *world) {
		w.step(settled)
		w.publish("1.1.0", false)
		w.push(2, web("1.1.0"))
		w.window(map[string]any{"kind": "deny", "schedule": aroundNoon, "applications": []any{"*"}})
		if err := w.sync(7, commit(2)); err != nil {
			t.Fatal(err)
		}
		w.step(settled)
		app := w.get(applications, "web-prod")
		if _, left := app.Object["operation"]; left {
			t.Error("the operation is left")
		}
		if o := w.last(); o.Operation != "Failed" || o.Revision == commit(2) {
			t.Errorf("the operation is %s at %s", o.Operation, o.Revision)
		}
		w.window(map[string]any{"kind": "deny", "schedule": atNight, "applications": []any{"*"}})
		w.step(settled)
		if o := w.last(); o.Revision == commit(2) {
			t.Errorf("it was synced after all, at %s", o.Revision)
		}
	})
}
