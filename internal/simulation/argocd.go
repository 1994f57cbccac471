package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// lastApplied is where client-side apply keeps what it applied.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// ensureApplications makes the Applications that are to be there and are not.
func (s *Simulation) ensureApplications(ctx context.Context) error {
	wanted, err := s.Applications(ctx)
	if err != nil {
		return err
	}
	for _, a := range wanted {
		spec := map[string]any{
			"project":     "default",
			"source":      map[string]any{"repoURL": a.RepoURL, "path": a.Path, "targetRevision": "main"},
			"destination": map[string]any{"server": "https://kubernetes.default.svc", "namespace": a.DestinationNamespace},
		}
		if a.Automated {
			spec["syncPolicy"] = map[string]any{"automated": map[string]any{"prune": true, "selfHeal": true}}
		}
		app := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "spec": spec}}
		app.SetName(a.Name)
		app.SetNamespace(a.Namespace)
		app.SetUID(types.UID("application-" + a.Name))
		if !a.Automated {
			// What runs already was there before Sluice: the first sync is a person's.
			head, err := s.Head(ctx)
			if err != nil {
				return err
			}
			app.Object["operation"] = map[string]any{"initiatedBy": map[string]any{"username": "admin"}, "sync": map[string]any{"revision": head}}
		}
		if err := s.create(ctx, app); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create application %s: %w", a.Name, err)
		}
	}
	return nil
}

func (s *Simulation) stepApplications(ctx context.Context) error {
	head, err := s.Head(ctx)
	if err != nil || head == "" {
		return err
	}
	apps, err := s.list(ctx, "Application")
	if err != nil {
		return err
	}
	for i := range apps {
		app := apps[i].DeepCopy()
		if err := s.stepApplication(ctx, app, head); err != nil {
			return fmt.Errorf("application %s: %w", app.GetName(), err)
		}
		if reflect.DeepEqual(app.Object, apps[i].Object) {
			continue
		}
		// A conflict means that somebody asked for an operation meanwhile: it is seen at the next step.
		if err := s.update(ctx, app); err != nil && !apierrors.IsConflict(err) {
			return fmt.Errorf("application %s: %w", app.GetName(), err)
		}
	}
	return nil
}

// stepApplication goes through one reconciliation: operation first, then comparison and health.
func (s *Simulation) stepApplication(ctx context.Context, app *unstructured.Unstructured, head string) error {
	status := mapAt(app.Object, "status")
	if err := s.stepOperation(ctx, app, status); err != nil {
		return err
	}
	path, _, _ := unstructured.NestedString(app.Object, "spec", "source", "path")
	desired, err := s.Render(ctx, head, path)
	if err != nil {
		status["sync"] = map[string]any{"status": "Unknown", "revision": "main"}
		status["conditions"] = []any{map[string]any{"type": "ComparisonError", "message": err.Error()}}
		return nil //nolint:nilerr // a tree that does not render is a finding about the Application
	}
	delete(status, "conditions")
	synced, resources, err := s.compare(ctx, app, desired)
	if err != nil {
		return err
	}
	word := "OutOfSync"
	if synced {
		word = "Synced"
	}
	status["sync"] = map[string]any{"status": word, "revision": head}
	status["resources"] = resources
	s.autoSync(app, status, head, synced)
	return s.summarise(ctx, app, status)
}

// stepOperation takes an operation one step further: accepted, applied (history grows), succeeded.
func (s *Simulation) stepOperation(ctx context.Context, app *unstructured.Unstructured, status map[string]any) error {
	if operation, asked := app.Object["operation"].(map[string]any); asked {
		status["operationState"] = map[string]any{"operation": operation, "phase": "Running", "startedAt": s.stamp(), "message": "waiting for the sync to begin"}
		delete(app.Object, "operation")
		return nil
	}
	state, _ := status["operationState"].(map[string]any)
	if state["phase"] != "Running" {
		return nil
	}
	if _, applied := state["syncResult"]; applied {
		state["phase"], state["finishedAt"], state["message"] = "Succeeded", s.stamp(), "successfully synced (all tasks run)"
		return nil
	}
	return s.apply(ctx, app, status, state)
}

func (s *Simulation) apply(ctx context.Context, app *unstructured.Unstructured, status, state map[string]any) error {
	revision, _, _ := unstructured.NestedString(state, "operation", "sync", "revision")
	path, _, _ := unstructured.NestedString(app.Object, "spec", "source", "path")
	desired, err := s.Render(ctx, revision, path)
	if err != nil {
		state["phase"], state["finishedAt"], state["message"] = "Error", s.stamp(), "ComparisonError: "+err.Error()
		return nil //nolint:nilerr // what an operation fails with is part of its state
	}
	var results []any
	for _, o := range desired {
		place(app, o)
		outcome, err := s.applyObject(ctx, o)
		if err != nil {
			return err
		}
		results = append(results, map[string]any{"kind": o.GetKind(), "name": o.GetName(), "namespace": o.GetNamespace(), "status": "Synced", "message": outcome})
	}
	state["syncResult"] = map[string]any{"revision": revision, "resources": results}
	history, _ := status["history"].([]any)
	status["history"] = append(history, map[string]any{"id": int64(len(history)), "revision": revision, "deployedAt": s.stamp()})
	return nil
}

// place gives an object the Application's namespace where it names none.
func place(app, o *unstructured.Unstructured) {
	if o.GetNamespace() == "" {
		namespace, _, _ := unstructured.NestedString(app.Object, "spec", "destination", "namespace")
		o.SetNamespace(namespace)
	}
}

// applyObject applies client-side: what is rendered wins, other fields stay.
func (s *Simulation) applyObject(ctx context.Context, o *unstructured.Unstructured) (string, error) {
	gvr, kept := resource(o.GetKind())
	if !kept {
		return o.GetKind() + " is not simulated", nil
	}
	text, err := json.Marshal(o.Object)
	if err != nil {
		return "", err
	}
	live, err := s.client.Resource(gvr).Namespace(o.GetNamespace()).Get(ctx, o.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		fresh := o.DeepCopy()
		annotate(fresh, lastApplied, string(text))
		fresh.SetUID(types.UID(o.GetKind() + "/" + o.GetNamespace() + "/" + o.GetName()))
		fresh.SetGeneration(1)
		return o.GetName() + " created", s.create(ctx, fresh)
	} else if err != nil {
		return "", err
	}
	if matches(o.Object, live.Object) && live.GetAnnotations()[lastApplied] == string(text) {
		return o.GetName() + " unchanged", nil
	}
	merged := live.DeepCopy()
	overlay(merged.Object, o.Object)
	annotate(merged, lastApplied, string(text))
	merged.SetGeneration(live.GetGeneration() + 1)
	return o.GetName() + " configured", s.update(ctx, merged)
}

func annotate(o *unstructured.Unstructured, key, value string) {
	annotations := maps.Clone(o.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	o.SetAnnotations(annotations)
}

// overlay writes the rendered fields over the live ones.
func overlay(live, rendered map[string]any) {
	for key, value := range rendered {
		below, isMap := value.(map[string]any)
		current, hasMap := live[key].(map[string]any)
		if isMap && hasMap {
			overlay(current, below)
			continue
		}
		live[key] = value
	}
}

// matches tells whether every rendered field is live with the same value.
func matches(rendered, live any) bool {
	switch want := rendered.(type) {
	case map[string]any:
		have, ok := live.(map[string]any)
		if !ok {
			return false
		}
		for key, value := range want {
			if !matches(value, have[key]) {
				return false
			}
		}
		return true
	case []any:
		have, ok := live.([]any)
		return ok && slices.EqualFunc(want, have, matches)
	}
	return fmt.Sprint(rendered) == fmt.Sprint(live) // numbers may differ in type only
}

// compare tells whether everything rendered is live as rendered, and lists it.
func (s *Simulation) compare(ctx context.Context, app *unstructured.Unstructured, desired []*unstructured.Unstructured) (bool, []any, error) {
	synced := true
	var resources []any
	for _, o := range desired {
		place(app, o)
		gvr, kept := resource(o.GetKind())
		word := "Synced"
		if kept {
			live, err := s.client.Resource(gvr).Namespace(o.GetNamespace()).Get(ctx, o.GetName(), metav1.GetOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				return false, nil, err
			}
			if err != nil || !matches(o.Object, live.Object) {
				synced, word = false, "OutOfSync"
			}
		}
		resources = append(resources, map[string]any{"group": o.GroupVersionKind().Group, "version": o.GroupVersionKind().Version,
			"kind": o.GetKind(), "namespace": o.GetNamespace(), "name": o.GetName(), "status": word})
	}
	return synced, resources, nil
}

// autoSync starts an operation by itself where the Application says so.
func (s *Simulation) autoSync(app *unstructured.Unstructured, status map[string]any, head string, synced bool) {
	_, automated, _ := unstructured.NestedMap(app.Object, "spec", "syncPolicy", "automated")
	state, _ := status["operationState"].(map[string]any)
	if !automated || synced || state["phase"] == "Running" || app.Object["operation"] != nil {
		return
	}
	app.Object["operation"] = map[string]any{"initiatedBy": map[string]any{"automated": true}, "sync": map[string]any{"revision": head}}
}

func mapAt(o map[string]any, key string) map[string]any {
	m, ok := o[key].(map[string]any)
	if !ok {
		m = map[string]any{}
		o[key] = m
	}
	return m
}
