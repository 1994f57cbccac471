package health

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// operation is the phase and revision of the current operation, or else of the last one. An operation that failed
// and is tried again has failed, although its phase goes on to be Running.
func (a application) operation() (phase, revision string) {
	state, _, _ := unstructured.NestedMap(a.object, "status", "operationState")
	phase = text(state, "phase")
	if _, asked, _ := unstructured.NestedMap(a.object, "operation"); !asked {
		// The operation's state may still name the revision of an earlier one; its result does not.
		return phase, cmp.Or(a.revision(state, "syncResult"), a.revision(state, "operation", "sync"))
	}
	revision = a.revision(a.object, "operation", "sync")
	if phase == "Running" && a.failing() {
		return "Failed", cmp.Or(revision, a.revision(state, "syncResult"))
	}
	return "Running", revision
}

// failing tells whether a running operation has failed at least once.
func (a application) failing() bool {
	state, _, _ := unstructured.NestedMap(a.object, "status", "operationState")
	if number(state, "retryCount") > 0 {
		return true
	}
	return slices.ContainsFunc(a.operationResults(), func(r map[string]any) bool {
		return text(r, "status") == "SyncFailed" || text(r, "hookType") != "" && hasFailed(r)
	})
}

// operationResults are what the current or last operation did to each object. A result that is left from the operation before is not
// taken for this one's.
func (a application) operationResults() []map[string]any {
	result, _, _ := unstructured.NestedMap(a.object, "status", "operationState", "syncResult")
	asked := a.revision(a.object, "operation", "sync")
	if asked != "" && asked != a.revision(result) {
		return nil
	}
	return list(result, "resources")
}

// results tells what the operation could not apply, with the reason, and what it did apply. What was applied and did not become healthy,
// so that Argo CD gave up, is not refused: its hookPhase is Failed, too.
func (a application) results() (refused, applied []string) {
	for _, r := range a.operationResults() {
		name := text(r, "kind") + " " + text(r, "name")
		switch {
		case text(r, "status") == "SyncFailed":
			refused = append(refused, name+": "+unwrapped(text(r, "message")))
		case text(r, "hookType") == "" && text(r, "status") == "Synced":
			applied = append(applied, name)
		}
	}
	return refused, applied
}

// hasFailed is about a hook's result.
func hasFailed(result map[string]any) bool {
	return text(result, "hookPhase") == "Failed" || text(result, "hookPhase") == "Error"
}

// deployedRevision is what the last successful operation applied. Partial operations, which heal single objects,
// leave no history and deploy nothing. History grows before the phase is Succeeded, so that the entry of
// the operation that is running is still a hope.
func (a application) deployedRevision() string {
	history := list(a.object, "status", "history")
	state, _, _ := unstructured.NestedMap(a.object, "status", "operationState")
	if len(history) == 0 {
		return a.resultWithoutHistory(state)
	}
	last := history[len(history)-1]
	if text(state, "phase") == "Running" && text(last, "deployStartedAt") == text(state, "startedAt") {
		if len(history) == 1 {
			return ""
		}
		last = history[len(history)-2]
	}
	return a.revision(last)
}

// resultWithoutHistory serves an Application that keeps none (revisionHistoryLimit: 0).
func (a application) resultWithoutHistory(state map[string]any) string {
	_, partial, _ := unstructured.NestedSlice(state, "operation", "sync", "resources")
	dry, _, _ := unstructured.NestedBool(state, "operation", "sync", "dryRun")
	if text(state, "phase") != "Succeeded" || partial || dry {
		return ""
	}
	return a.revision(state, "syncResult")
}
