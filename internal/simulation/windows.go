package simulation

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sluicehq/sluice/internal/window"
)

// blocked is what Argo CD says of an operation that a sync window holds back: it is Running, and begins once the window lets it.
const blocked = "Sync operation blocked by sync window"

// projectWindow is one sync window of an AppProject.
type projectWindow struct {
	Kind         string   `json:"kind"`
	Schedule     string   `json:"schedule"`
	Duration     string   `json:"duration"`
	TimeZone     string   `json:"timeZone"`
	ManualSync   bool     `json:"manualSync"` // it lets through what somebody asked for
	Applications []string `json:"applications"`
	Namespaces   []string `json:"namespaces"`
	Clusters     []string `json:"clusters"`
}

// held tells whether the sync windows of an Application's project hold its sync back now: a deny window that is active, or allow
// windows of which none is. Argo CD asks the active deny windows first, then the active allow windows, then the others.
func (e *Engine) held(ctx context.Context, app *unstructured.Unstructured, manual bool) (bool, error) {
	windows, err := e.windowsOf(ctx, app)
	if err != nil {
		return false, err
	}
	count, passes := map[string]int{}, map[string]bool{"active deny": manual, "idle allow": manual}
	for _, w := range windows {
		is, err := w.activeAt(e.Now())
		if err != nil {
			return false, fmt.Errorf("a sync window of application %s: %w", app.GetName(), err)
		}
		sort := "idle " + w.Kind
		if is {
			sort = "active " + w.Kind
		}
		count[sort]++
		passes[sort] = passes[sort] && w.ManualSync
	}
	switch {
	case count["active deny"] > 0:
		return !passes["active deny"], nil
	case count["active allow"] > 0:
		return false, nil
	}
	return count["idle allow"] > 0 && !passes["idle allow"], nil
}

// windowsOf are those of an Application's project that are about it.
func (e *Engine) windowsOf(ctx context.Context, app *unstructured.Unstructured) ([]projectWindow, error) {
	name, _, _ := unstructured.NestedString(app.Object, "spec", "project")
	project, err := e.client.Resource(appProjects).Namespace(app.GetNamespace()).Get(ctx, cmp.Or(name, "default"), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read the project of application %s: %w", app.GetName(), err)
	}
	var spec struct {
		SyncWindows []projectWindow `json:"syncWindows"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(below(project.Object, "spec"), &spec); err != nil {
		return nil, fmt.Errorf("read the project %s: %w", name, err)
	}
	var about []projectWindow
	for _, w := range spec.SyncWindows {
		if w.about(app) {
			about = append(about, w)
		}
	}
	return about, nil
}

func (w projectWindow) about(app *unstructured.Unstructured) bool {
	destination := below(below(app.Object, "spec"), "destination")
	namespace, _ := destination["namespace"].(string)
	server, _ := destination["server"].(string)
	cluster, _ := destination["name"].(string)
	return matches(w.Applications, app.GetName()) || matches(w.Namespaces, namespace) || matches(w.Clusters, cluster) || matches(w.Clusters, server)
}

func matches(patterns []string, name string) bool {
	for _, p := range patterns {
		if ok, err := path.Match(p, name); ok && err == nil {
			return true
		}
	}
	return false
}

// activeAt has the product's windows tell, which hold what a deny window is active for.
func (w projectWindow) activeAt(at time.Time) (bool, error) {
	compiled, err := window.Compile([]window.Spec{{Name: "of a project", Kind: window.Deny, Schedule: w.Schedule, Duration: w.Duration,
		Timezone: cmp.Or(w.TimeZone, "UTC")}})
	if err != nil {
		return false, err
	}
	return !window.Open(compiled, at).Open, nil
}
