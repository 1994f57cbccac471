package simulation

import (
	"context"
	"fmt"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// setName names the stand-in for an ApplicationSet that owns the Applications it makes.
const setName = "overlays"

// ensureApplications makes, corrects and deletes the Applications that the set stands for. In a
// cluster that has none yet they are adopted: what they deploy was there before Sluice.
func (s *Simulation) ensureApplications(ctx context.Context, head string) (adopted bool, err error) {
	wanted, err := s.Applications(ctx)
	if err != nil {
		return false, err
	}
	found, err := s.list(ctx, applications)
	if err != nil {
		return false, err
	}
	there := map[string]*unstructured.Unstructured{}
	for i := range found {
		there[found[i].GetNamespace()+"/"+found[i].GetName()] = &found[i]
	}
	for _, a := range wanted {
		name := a.Namespace + "/" + a.Name
		if live, known := there[name]; known {
			err = s.correct(ctx, live, a)
		} else {
			err = s.make(ctx, a, head, len(found) == 0)
		}
		if err != nil {
			return false, fmt.Errorf("application %s: %w", name, err)
		}
		delete(there, name)
	}
	for name, app := range there {
		if err := s.dismiss(ctx, app); err != nil {
			return false, fmt.Errorf("delete application %s: %w", name, err)
		}
	}
	return len(found) == 0 && len(wanted) > 0, nil
}

func specOf(a Application) map[string]any {
	project := a.Project
	if project == "" {
		project = "default"
	}
	spec := map[string]any{
		"project":     project,
		"source":      sourceOf(a),
		"destination": map[string]any{"server": "https://kubernetes.default.svc", "namespace": a.DestinationNamespace},
	}
	if a.Automated {
		spec["syncPolicy"] = map[string]any{"automated": map[string]any{"prune": true, "selfHeal": true}}
	}
	return spec
}

// sourceOf is a folder, or a chart with the values that stand in the folder.
func sourceOf(a Application) map[string]any {
	source := map[string]any{"repoURL": a.RepoURL, "path": a.Path, "targetRevision": "main"}
	if a.Chart != "" {
		source["path"] = a.Chart
		source["helm"] = map[string]any{"valueFiles": []any{"/" + path.Join(a.Path, "values.yaml")}}
	}
	return source
}

// folderOf is the folder that an Application's source stands for.
func folderOf(app *unstructured.Unstructured) string {
	if values, _, _ := unstructured.NestedStringSlice(app.Object, "spec", "source", "helm", "valueFiles"); len(values) > 0 {
		return strings.TrimPrefix(path.Dir(values[0]), "/")
	}
	folder, _, _ := unstructured.NestedString(app.Object, "spec", "source", "path")
	return folder
}

func (s *Simulation) make(ctx context.Context, a Application, head string, adopt bool) error {
	app := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "spec": specOf(a)}}
	app.SetName(a.Name)
	app.SetNamespace(a.Namespace)
	app.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "argoproj.io/v1alpha1", Kind: "ApplicationSet", Name: setName}})
	if a.Environment != "" {
		app.SetLabels(map[string]string{"environment": a.Environment})
	}
	if adopt {
		app.Object["operation"] = map[string]any{"initiatedBy": map[string]any{"username": "admin"}, "sync": map[string]any{"revision": head, "prune": true}}
	}
	_, err := s.create(ctx, app)
	return err
}

// correct gives an Application the spec that the set says. As with ignoreApplicationDifferences for /spec/syncPolicy, what somebody
// made of its sync policy stays, so that automatic sync can be paused. A conflict is left to the next step.
func (s *Simulation) correct(ctx context.Context, live *unstructured.Unstructured, a Application) error {
	spec := specOf(a)
	delete(spec, "syncPolicy")
	if policy, found, _ := unstructured.NestedMap(live.Object, "spec", "syncPolicy"); found {
		spec["syncPolicy"] = policy
	}
	if !ofTheSet(live) || equality.Semantic.DeepEqual(live.Object["spec"], any(spec)) {
		return nil
	}
	live.Object["spec"] = spec
	if _, err := s.update(ctx, live); err != nil && !apierrors.IsConflict(err) {
		return err
	}
	return nil
}

// dismiss deletes an Application that the set no longer names, and first what it deployed.
func (s *Simulation) dismiss(ctx context.Context, app *unstructured.Unstructured) error {
	if !ofTheSet(app) {
		return nil
	}
	tracked, err := s.engine.tracked(ctx, app)
	if err != nil {
		return err
	}
	for _, o := range tracked {
		if err := s.remove(ctx, o); err != nil {
			return err
		}
	}
	return s.remove(ctx, app)
}

func ofTheSet(app *unstructured.Unstructured) bool {
	for _, r := range app.GetOwnerReferences() {
		if r.Kind == "ApplicationSet" && r.Name == setName {
			return true
		}
	}
	return false
}
