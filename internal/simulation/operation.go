package simulation

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// keptHistory is how many deployments an Application remembers, Argo CD's default.
const keptHistory = 10

// accept begins the operation that was asked for. Its state is merged over that of the operation
// before, whose message and result stay until this one has its own, as Argo CD does.
func (s *Simulation) accept(app *unstructured.Unstructured) {
	operation, _ := app.Object["operation"].(map[string]any)
	state := below(statusOf(app), "operationState")
	overlay(state, map[string]any{"operation": copied(operation), "phase": "Running", "startedAt": s.stamp()}, nil)
	delete(state, "finishedAt")
}

// operate applies what the operation asks for, lets the history grow, and only then ends the operation. Killed in
// between, it applies the same once more and adds no second entry.
func (s *Simulation) operate(ctx context.Context, app *unstructured.Unstructured, head string) error {
	sync, _, _ := unstructured.NestedMap(app.Object, "operation", "sync")
	revision, _ := sync["revision"].(string)
	if revision == "" {
		revision = head
	}
	state := below(statusOf(app), "operationState")
	desired, err := s.render(ctx, app, revision, head)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		s.end(app, "Error", "ComparisonError: "+err.Error())
		_, err := s.update(ctx, app)
		return err
	}
	results, failure, err := s.applyAll(ctx, app, desired, sync)
	if err != nil {
		return err
	}
	if _, partial := sync["resources"]; !partial && failure == "" && s.remember(app, revision) {
		if app, err = s.update(ctx, app); err != nil {
			return err
		}
		state = below(statusOf(app), "operationState")
	}
	state["syncResult"] = map[string]any{"revision": revision, "resources": results}
	if failure != "" {
		s.end(app, "Failed", "one or more synchronization tasks completed unsuccessfully, reason: "+failure)
	} else {
		s.end(app, "Succeeded", "successfully synced (all tasks run)")
	}
	_, err = s.update(ctx, app)
	return err
}

func (s *Simulation) end(app *unstructured.Unstructured, phase, message string) {
	state := below(statusOf(app), "operationState")
	state["phase"], state["message"], state["finishedAt"] = phase, message, s.stamp()
	delete(app.Object, "operation")
}

// remember adds the deployment to the history, unless this operation has done so already.
func (s *Simulation) remember(app *unstructured.Unstructured, revision string) bool {
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
	history = append(history, map[string]any{"id": id, "revision": revision, "deployStartedAt": startedAt, "deployedAt": s.stamp(),
		"initiatedBy": by, "source": copied(below(below(app.Object, "spec"), "source"))})
	status["history"] = history[max(0, len(history)-keptHistory):]
	return true
}

// applyAll applies what was rendered and deletes what is no longer there, as far as the operation says so.
// failure is what the API server refused first; the other objects are applied all the same.
func (s *Simulation) applyAll(ctx context.Context, app *unstructured.Unstructured, desired []*unstructured.Unstructured,
	sync map[string]any) (results []any, failure string, err error) {
	for _, o := range desired {
		if !chosen(sync, o) {
			continue
		}
		r := reference(o)
		r["status"], r["syncPhase"] = "Synced", "Sync"
		message, err := s.applyObject(ctx, o)
		if refusal := refused(err); refusal != "" {
			r["status"], r["hookPhase"], message = "SyncFailed", "Failed", refusal
			if failure == "" {
				failure = refusal
			}
		} else if err != nil {
			return nil, "", err
		}
		r["message"] = message
		results = append(results, r)
	}
	tracked, err := s.tracked(ctx, app)
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
			if err := s.remove(ctx, o); err != nil {
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
