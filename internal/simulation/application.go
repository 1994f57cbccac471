package simulation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// stepApplications takes each Application one step further, in the order in which Argo CD 3.5 was recorded to go: an
// operation is accepted, applied with its history entry, ended, and only then are sync, health and images looked at again.
func (e *Engine) stepApplications(ctx context.Context, head string) error {
	found, err := e.list(ctx, applications)
	if err != nil {
		return err
	}
	f, err := e.family(ctx)
	if err != nil {
		return err
	}
	var failed error
	for i := range found {
		// A conflict means that somebody asked for something meanwhile: it is seen at the next step.
		if err := e.stepApplication(ctx, &found[i], f, head); err != nil && !apierrors.IsConflict(err) {
			failed = errors.Join(failed, fmt.Errorf("application %s: %w", found[i].GetName(), err))
		}
	}
	return failed
}

func (e *Engine) stepApplication(ctx context.Context, app *unstructured.Unstructured, f family, head string) error {
	_, asked := app.Object["operation"]
	phase, _, _ := unstructured.NestedString(app.Object, "status", "operationState", "phase")
	switch {
	case asked && phase == "Terminating":
		e.end(app, "Failed", "Operation terminated")
		_, err := e.update(ctx, app)
		return err
	case asked && phase != "Running":
		e.accept(app)
		_, err := e.update(ctx, app)
		return err
	case asked:
		return e.operateUnlessHeld(ctx, app, head)
	}
	before := app.DeepCopy()
	if err := e.compare(ctx, app, f, head); err != nil {
		return err
	}
	if err := e.autoSync(ctx, app, head); err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(app.Object, before.Object) {
		return nil
	}
	statusOf(app)["reconciledAt"] = e.stamp()
	_, err := e.update(ctx, app)
	return err
}

// compare sets sync against main's head live objects with what it renders, and looks at their health.
func (e *Engine) compare(ctx context.Context, app *unstructured.Unstructured, f family, head string) error {
	status := statusOf(app)
	desired, err := e.render(ctx, app, head, head)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		status["sync"] = map[string]any{"status": "Unknown", "revision": head}
		status["conditions"] = []any{map[string]any{"type": "ComparisonError", "message": "Failed to load target state: " +
			"failed to generate manifest for source 1 of 1: rpc error: code = Unknown desc = " + err.Error()}}
		return nil //nolint:nilerr // a tree that does not render is a finding about the Application
	}
	delete(status, "conditions")
	tracked, err := e.tracked(ctx, app)
	if err != nil {
		return err
	}
	word := "Synced"
	resources := []any{}
	for _, o := range desired {
		r := reference(o)
		same, err := e.isApplied(ctx, o)
		if err != nil {
			return err
		}
		if r["status"] = "Synced"; !same {
			word, r["status"] = "OutOfSync", "OutOfSync"
		}
		resources = append(resources, r)
	}
	for _, o := range superfluous(tracked, desired) {
		r := reference(o)
		word, r["status"], r["requiresPruning"] = "OutOfSync", "OutOfSync", true
		resources = append(resources, r)
	}
	status["sync"] = map[string]any{"status": word, "revision": head}
	status["resources"] = resources
	return e.summarise(ctx, status, desired, f)
}

// autoSync asks for an operation where the Application says so: a full one for a revision that was not tried yet, a
// partial one, which leaves no history, to heal what was changed by hand.
func (e *Engine) autoSync(ctx context.Context, app *unstructured.Unstructured, head string) error {
	policy, automated, _ := unstructured.NestedMap(app.Object, "spec", "syncPolicy", "automated")
	status := statusOf(app)
	word, _, _ := unstructured.NestedString(status, "sync", "status")
	if !automated || policy["enabled"] == false || word != "OutOfSync" {
		return nil
	}
	if held, err := e.held(ctx, app, false); held || err != nil {
		return err
	}
	sync := map[string]any{"revision": head, "prune": policy["prune"] == true}
	if options, found, _ := unstructured.NestedSlice(app.Object, "spec", "syncPolicy", "syncOptions"); found {
		sync["syncOptions"] = options
	}
	last, _, _ := unstructured.NestedString(status, "operationState", "syncResult", "revision")
	phase, _, _ := unstructured.NestedString(status, "operationState", "phase")
	if last == head {
		if phase != "Succeeded" || policy["selfHeal"] != true {
			return nil
		}
		attempts, due := e.healing(status)
		if !due {
			return nil
		}
		sync["resources"], sync["autoHealAttemptsCount"] = changed(status), attempts+1
	}
	app.Object["operation"] = map[string]any{"initiatedBy": map[string]any{"automated": true}, "sync": sync}
	delete(status, "operationState")
	return nil
}

// Argo CD's defaults: an attempt to heal that follows another waits, each three times as long as the one before.
const (
	healPause   = 2 * time.Second
	longestHeal = 5 * time.Minute
	healMemory  = 330 * time.Second // after which the attempts are counted anew
)

// healing is how many attempts to heal lie behind an Application, and whether the next one is due.
func (e *Engine) healing(status map[string]any) (attempts int64, due bool) {
	attempts, _, _ = unstructured.NestedInt64(status, "operationState", "operation", "sync", "autoHealAttemptsCount")
	text, _, _ := unstructured.NestedString(status, "operationState", "finishedAt")
	finished, err := time.Parse(time.RFC3339, text)
	rested := e.Now().Sub(finished)
	if err != nil || attempts == 0 || rested > healMemory {
		return 0, true
	}
	pause := healPause
	for range attempts - 1 {
		pause = min(3*pause, longestHeal)
	}
	return attempts, rested >= pause
}

// changed names the resources that are not as rendered.
func changed(status map[string]any) []any {
	var names []any
	resources, _ := status["resources"].([]any)
	for _, r := range resources {
		if m, _ := r.(map[string]any); m["status"] == "OutOfSync" {
			names = append(names, map[string]any{"group": m["group"], "kind": m["kind"], "name": m["name"]})
		}
	}
	return names
}

// reference names an object the way status.resources does.
func reference(o *unstructured.Unstructured) map[string]any {
	kind := o.GroupVersionKind()
	return map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind, "namespace": o.GetNamespace(), "name": o.GetName()}
}

func statusOf(o *unstructured.Unstructured) map[string]any {
	return below(o.Object, "status")
}

// below is the map under a key, made if it is not there.
func below(m map[string]any, key string) map[string]any {
	found, ok := m[key].(map[string]any)
	if !ok {
		found = map[string]any{}
		m[key] = found
	}
	return found
}
