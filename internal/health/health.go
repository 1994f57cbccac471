// Package health concludes from a cluster's objects what an Argo CD Application really does. Sync says
// whether live objects match Git, health whether they work; the two never mix. Pure functions.
//
// What Argo CD 3.5 does where its documentation is silent was taken from a recording of a live one: a comparison
// error leaves health at Healthy, history grows before an operation has succeeded, and a
// sync may be Succeeded and Healthy while the old image still runs.
package health

import (
	"cmp"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Objects are an Application and what was found of its workloads.
type Objects struct {
	Application *unstructured.Unstructured
	Workloads   []*unstructured.Unstructured // Deployments, StatefulSets, DaemonSets
	Pods        []*unstructured.Unstructured // of these workloads
}

// Conclude says what is to be made of the objects. Key, Simulated and ObservedAt are
// the caller's to fill in.
func Conclude(o Objects) promotion.Observation {
	app := o.Application.Object
	out := promotion.Observation{
		Sync:   syncStatus(app),
		Health: healthStatus(app),
	}
	source(app, &out)
	operation(app, &out)
	out.Revision = deployedRevision(app)
	if out.Sync == promotion.Synced {
		out.ComparedRevision = commit(text(app, "status", "sync", "revision"))
	}
	conclusions(o, &out)
	return out
}

func source(app map[string]any, out *promotion.Observation) {
	from, _, _ := unstructured.NestedMap(app, "spec", "source")
	if sources, many, _ := unstructured.NestedSlice(app, "spec", "sources"); many {
		for _, s := range sources {
			if m, ok := s.(map[string]any); ok && text(m, "path") != "" {
				from = m
				break
			}
		}
	}
	out.RepositoryURL, out.Path, out.TargetRevision = text(from, "repoURL"), strings.Trim(text(from, "path"), "/"), text(from, "targetRevision")
	automated, found, _ := unstructured.NestedMap(app, "spec", "syncPolicy", "automated")
	out.AutomatedSync = found && automated["enabled"] != false
}

// commitForm: a revision may also be a branch's name, as long as nothing was compared.
var commitForm = regexp.MustCompile(`^[0-9a-f]{40}$`)

func commit(revision string) string {
	if commitForm.MatchString(revision) {
		return revision
	}
	return ""
}

func syncStatus(app map[string]any) promotion.SyncStatus {
	if comparisonError(app) != "" {
		return promotion.SyncUnknown
	}
	switch s := promotion.SyncStatus(text(app, "status", "sync", "status")); s {
	case promotion.Synced, promotion.OutOfSync:
		return s
	}
	return promotion.SyncUnknown
}

// healthStatus is the Application's own word; it is Healthy too when nothing could be compared.
func healthStatus(app map[string]any) promotion.HealthStatus {
	if comparisonError(app) != "" {
		return promotion.HealthUnknown
	}
	switch h := promotion.HealthStatus(text(app, "status", "health", "status")); h {
	case promotion.Healthy, promotion.Progressing, promotion.Degraded, promotion.Suspended, promotion.Missing:
		return h
	}
	return promotion.HealthUnknown
}

func comparisonError(app map[string]any) string {
	conditions, _, _ := unstructured.NestedSlice(app, "status", "conditions")
	for _, c := range conditions {
		m, _ := c.(map[string]any)
		switch text(m, "type") {
		case "ComparisonError", "InvalidSpecError", "UnknownError":
			return text(m, "message")
		}
	}
	return ""
}

func operation(app map[string]any, out *promotion.Observation) {
	out.Operation = text(app, "status", "operationState", "phase")
	out.OperationRev = commit(cmp.Or(text(app, "status", "operationState", "syncResult", "revision"),
		text(app, "status", "operationState", "operation", "sync", "revision")))
	if requested, waiting, _ := unstructured.NestedMap(app, "operation", "sync"); waiting {
		out.Operation, out.OperationRev = "Running", commit(text(requested, "revision"))
	}
	retrying := strings.Contains(text(app, "status", "operationState", "message"), "Retrying operation")
	if out.Operation == "Running" && (retrying || resourceFailure(app) != "") {
		out.Operation = "Failed" // it will be tried again, and it has failed
	}
}

// resourceFailure is the first object that the current operation could not apply.
func resourceFailure(app map[string]any) string {
	results, _, _ := unstructured.NestedSlice(app, "status", "operationState", "syncResult", "resources")
	for _, r := range results {
		m, _ := r.(map[string]any)
		if text(m, "status") == "SyncFailed" || text(m, "hookPhase") == "Failed" {
			return text(m, "kind") + " " + text(m, "name") + ": " + text(m, "message")
		}
	}
	return ""
}

// deployedRevision is what the last successful operation applied. History grows
// before the operation has succeeded, so its newest entry may still be a hope.
func deployedRevision(app map[string]any) string {
	history, _, _ := unstructured.NestedSlice(app, "status", "history")
	phase := text(app, "status", "operationState", "phase")
	if phase == "Succeeded" {
		partial, _, _ := unstructured.NestedSlice(app, "status", "operationState", "operation", "sync", "resources")
		if applied := commit(text(app, "status", "operationState", "syncResult", "revision")); applied != "" && len(partial) == 0 {
			return applied
		}
	}
	hope := ""
	if phase == "Running" {
		hope = text(app, "status", "operationState", "startedAt")
	}
	for i := len(history) - 1; i >= 0; i-- {
		entry, _ := history[i].(map[string]any)
		if hope != "" && text(entry, "deployedAt") >= hope {
			continue
		}
		return commit(text(entry, "revision"))
	}
	return ""
}

func text(m map[string]any, path ...string) string {
	s, _, _ := unstructured.NestedString(m, path...)
	return s
}
