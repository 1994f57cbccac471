package simulation

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// keptHistory is how many deployments an Application remembers, Argo CD's default.
const keptHistory = 10

// accept begins the operation that was asked for. Its state is merged over that of the operation
// before, whose message and result stay until this one has its own, as Argo CD does.
func (e *Engine) accept(app *unstructured.Unstructured) {
	operation, _ := app.Object["operation"].(map[string]any)
	state := below(statusOf(app), "operationState")
	overlay(state, map[string]any{"operation": copied(operation), "phase": "Running", "startedAt": e.stamp()})
	delete(state, "finishedAt")
}

// operateUnlessHeld leaves an operation Running while a sync window holds it back.
func (e *Engine) operateUnlessHeld(ctx context.Context, app *unstructured.Unstructured, head string) error {
	automated, _, _ := unstructured.NestedBool(app.Object, "operation", "initiatedBy", "automated")
	held, err := e.held(ctx, app, !automated)
	if err != nil {
		return err
	}
	state := below(statusOf(app), "operationState")
	switch {
	case !held:
		return e.operate(ctx, app, head)
	case state["message"] == blocked:
		return nil
	}
	state["message"] = blocked
	_, err = e.update(ctx, app)
	return err
}

// operate applies what the operation asks for, lets the history grow, and only then ends the operation. Killed in
// between, it applies the same once more and adds no second entry.
func (e *Engine) operate(ctx context.Context, app *unstructured.Unstructured, head string) error {
	sync, _, _ := unstructured.NestedMap(app.Object, "operation", "sync")
	revision, _ := sync["revision"].(string)
	if revision == "" {
		revision = head
	}
	state := below(statusOf(app), "operationState")
	desired, err := e.render(ctx, app, revision, head)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		e.end(app, "Error", "ComparisonError: "+err.Error())
		_, err := e.update(ctx, app)
		return err
	}
	results, failure, err := e.applyAll(ctx, app, desired, sync)
	if err != nil {
		return err
	}
	if _, partial := sync["resources"]; !partial && failure == "" && e.remember(app, revision) {
		if app, err = e.update(ctx, app); err != nil {
			return err
		}
		state = below(statusOf(app), "operationState")
	}
	state["syncResult"] = map[string]any{"revision": revision, "resources": results}
	if failure != "" {
		e.end(app, "Failed", failure)
	} else {
		e.end(app, "Succeeded", "successfully synced (all tasks run)")
	}
	_, err = e.update(ctx, app)
	return err
}

func (e *Engine) end(app *unstructured.Unstructured, phase, message string) {
	state := below(statusOf(app), "operationState")
	state["phase"], state["message"], state["finishedAt"] = phase, message, e.stamp()
	delete(app.Object, "operation")
}

// remember adds the deployment to the history, unless this operation has done so already.
func (e *Engine) remember(app *unstructured.Unstructured, revision string) bool {
	status := statusOf(app)
	startedAt := below(status, "operationState")["startedAt"]
	history, _ := status["history"].([]any)
	id := int64(0)
	if len(history) > 0 {
		last, _ := history[len(history)-1].(map[string]any)
		if last["deployStartedAt"] == startedAt && last["revision"] == revision {
			return false
		}
		id = last["id"].(int64) + 1
	}
	by, _, _ := unstructured.NestedMap(app.Object, "operation", "initiatedBy")
	history = append(history, map[string]any{"id": id, "revision": revision, "deployStartedAt": startedAt, "deployedAt": e.stamp(),
		"initiatedBy": by, "source": copied(below(below(app.Object, "spec"), "source"))})
	status["history"] = history[max(0, len(history)-keptHistory):]
	return true
}

// applyAll applies what was rendered and deletes what is no longer there, as far as the operation says so.
// failure is what the API server refused first; the other objects are applied all the same.
func (e *Engine) applyAll(ctx context.Context, app *unstructured.Unstructured, desired []*unstructured.Unstructured,
	sync map[string]any) (results []any, failure string, err error) {
	if results := e.invalid(desired, sync); len(results) > 0 {
		return results, notValid, nil
	}
	if has(sync, "CreateNamespace=true") {
		if err := e.ensureNamespace(ctx, app); err != nil {
			return nil, "", err
		}
	}
	for _, o := range desired {
		if !chosen(sync, o) {
			continue
		}
		r := reference(o)
		r["status"], r["syncPhase"] = "Synced", "Sync"
		message, err := e.applyObject(ctx, o, has(sync, "ServerSideApply=true"))
		if refusal := refused(err); refusal != "" {
			r["status"], r["hookPhase"], message = "SyncFailed", "Failed", refusal
			if failure == "" {
				failure = "one or more synchronization tasks completed unsuccessfully, reason: " + refusal
			}
		} else if err != nil {
			return nil, "", err
		}
		r["message"] = message
		results = append(results, r)
	}
	tracked, err := e.tracked(ctx, app)
	if err != nil {
		return nil, "", err
	}
	for _, o := range superfluous(tracked, desired) {
		if !chosen(sync, o) {
			continue
		}
		r := reference(o)
		r["status"], r["message"] = "PruneSkipped", "ignored (requires pruning)"
		if sync["prune"] == true {
			r["status"], r["message"] = "Pruned", "pruned"
			if err := e.remove(ctx, o); err != nil {
				return nil, "", err
			}
		}
		results = append(results, r)
	}
	return results, failure, nil
}

// chosen tells whether an operation is about an object: about all, unless it names some.
func chosen(sync map[string]any, o *unstructured.Unstructured) bool {
	named, some := sync["resources"].([]any)
	if !some {
		return true
	}
	for _, n := range named {
		if m, _ := n.(map[string]any); m["kind"] == o.GetKind() && m["name"] == o.GetName() {
			return true
		}
	}
	return false
}

// notValid is what Argo CD says when it refuses to begin.
const notValid = "one or more synchronization tasks are not valid"

// invalid are the results of an operation that is refused before anything is applied: a kind is not served.
func (e *Engine) invalid(desired []*unstructured.Unstructured, sync map[string]any) (results []any) {
	for _, o := range desired {
		if why := e.unserved(o); why != "" && chosen(sync, o) {
			r := reference(o)
			r["status"], r["syncPhase"], r["message"] = "SyncFailed", "Sync", why
			results = append(results, r)
		}
	}
	return results
}

// has tells whether an operation has a sync option.
func has(sync map[string]any, option string) bool {
	options, _ := sync["syncOptions"].([]any)
	return slices.Contains(options, any(option))
}

func (e *Engine) ensureNamespace(ctx context.Context, app *unstructured.Unstructured) error {
	name, _, _ := unstructured.NestedString(app.Object, "spec", "destination", "namespace")
	namespace := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}}
	if _, err := e.create(ctx, namespace); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create namespace %s: %w", name, err)
	}
	return nil
}
