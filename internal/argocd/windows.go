package argocd

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/window"
)

// SyncWindows implements promotion.Engine: what the Application's AppProject lets it sync when, as Argo CD decides it.
func (Engine) SyncWindows(application []byte, projects [][]byte, manual bool) (promotion.ProjectWindows, error) {
	a, err := applicationFrom(application)
	if err != nil {
		return promotion.ProjectWindows{}, err
	}
	found := promotion.ProjectWindows{Project: a.Project}
	if found.Project == "" {
		found.Project = "default"
	}
	project, err := projectOf(a, found.Project, projects)
	if err != nil {
		return found, err
	}
	windows, err := windowsFor(a, project, manual)
	if err != nil {
		return found, fmt.Errorf("the sync windows of the AppProject %s: %w", found.Project, err)
	}
	if len(windows) > 0 {
		found.Decide = func(at time.Time) promotion.WindowDecision {
			d := window.Open(windows, at)
			return promotion.WindowDecision{Open: d.Open, By: d.By, Reason: d.Reason, Next: d.Next}
		}
	}
	return found, nil
}

// projectOf is the project of an Application: beside it, or elsewhere when Applications may be in any namespace. One that does not
// exist is empty: it has no windows, and Argo CD syncs nothing by it.
func projectOf(a Application, name string, documents [][]byte) (Project, error) {
	var elsewhere []Project
	for _, document := range documents {
		var object map[string]any
		if err := json.Unmarshal(document, &object); err != nil {
			return Project{}, fmt.Errorf("read an AppProject: %w", err)
		}
		metadata, _ := object["metadata"].(map[string]any)
		if metadata["name"] != name {
			continue
		}
		p, err := ReadProject(object)
		if err != nil {
			return Project{}, err
		}
		if p.Namespace == a.Namespace {
			return p, nil
		}
		elsewhere = append(elsewhere, p)
	}
	switch len(elsewhere) {
	case 0:
		return Project{}, nil
	case 1:
		return elsewhere[0], nil
	}
	return Project{}, fmt.Errorf("several namespaces have an AppProject %s, and none is %s", name, a.Namespace)
}

// windowsFor are those of a project that are about an Application, so that they decide as Argo CD does. A sync that was asked for passes
// deny windows with manualSync, and such a window lets it through although no allow window is active; allow windows hold
// it unless all have manualSync.
func windowsFor(a Application, p Project, manual bool) ([]window.Window, error) {
	var allow, deny, passing []window.Spec
	held := false // by an allow window
	for _, w := range p.SyncWindows {
		about, err := w.about(a)
		if err != nil {
			return nil, err
		}
		spec := w.spec()
		switch {
		case !about:
		case w.Kind == string(window.Deny) && manual && w.ManualSync:
			spec.Kind = window.Allow
			passing = append(passing, spec)
		case w.Kind == string(window.Deny):
			deny = append(deny, spec)
		default:
			held = held || !manual || !w.ManualSync
			allow = append(allow, spec)
		}
	}
	if held {
		deny = append(deny, slices.Concat(allow, passing)...)
	}
	return window.Compile(deny)
}

func (w SyncWindow) spec() window.Spec {
	name := w.Description
	if name == "" {
		name = fmt.Sprintf("%s %s for %s", w.Kind, w.Schedule, w.Duration)
	}
	zone := w.TimeZone
	if zone == "" {
		zone = "UTC"
	}
	return window.Spec{Name: name, Kind: window.Kind(w.Kind), Schedule: w.Schedule, Duration: w.Duration, Timezone: zone}
}

// errUnresolved: an Application names its cluster by address or by name, and only Argo CD knows the other.
var errUnresolved = errors.New("a window names clusters, and whether the Application's is one of them only Argo CD knows")

// about tells whether a window concerns an Application: by any of its lists, or by all that are there when it says so.
func (w SyncWindow) about(a Application) (bool, error) {
	application, err := anyGlob(w.Applications, a.Name)
	if err != nil {
		return false, err
	}
	namespace, err := anyGlob(w.Namespaces, a.Destination.Namespace)
	if err != nil {
		return false, err
	}
	cluster, known, err := w.aboutCluster(a.Destination)
	if err != nil {
		return false, err
	}
	if w.UseAndOperator {
		rest := len(w.Applications)+len(w.Namespaces)+len(w.Clusters) > 0 &&
			(application || len(w.Applications) == 0) && (namespace || len(w.Namespaces) == 0)
		if rest && !known {
			return false, errUnresolved
		}
		return rest && (cluster || len(w.Clusters) == 0), nil
	}
	if !known && !application && !namespace {
		return false, errUnresolved
	}
	return application || namespace || cluster, nil
}

// aboutCluster is not known when a pattern may be for what the Application does not say of its cluster.
func (w SyncWindow) aboutCluster(d Destination) (about, known bool, err error) {
	names := []string{d.Server, d.Name}
	if d.Server == inClusterServer || d.Name == inCluster {
		names = []string{inClusterServer, inCluster}
	}
	known = true
	for _, pattern := range w.Clusters {
		for _, name := range names {
			if name == "" {
				continue
			}
			if about, err = anyGlob([]string{pattern}, name); err != nil || about {
				return about, true, err
			}
		}
		known = known && (names[0] != "" && names[1] != "" || strings.Contains(pattern, "://") == (names[0] != ""))
	}
	return false, known, nil
}

// How Argo CD calls the cluster that it runs in.
const (
	inCluster       = "in-cluster"
	inClusterServer = "https://kubernetes.default.svc"
)

func anyGlob(patterns []string, name string) (bool, error) {
	for _, p := range patterns {
		g, err := compileGlob(p, globStyle{braces: true})
		if err != nil {
			return false, err
		}
		if g.MatchString(name) {
			return true, nil
		}
	}
	return false, nil
}
