package cluster

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluicehq/sluice/internal/health"
	"github.com/sluicehq/sluice/internal/promotion"
)

// infoName names the promotion in an operation's info, which Argo CD keeps with the operation's outcome.
const infoName = "sluice-promotion"

// Sync implements promotion.Cluster. An operation of this promotion and revision that has failed is started again. What
// the revision no longer describes is pruned: the gate on deletions has named it.
func (c *Cluster) Sync(ctx context.Context, key promotion.DeploymentKey, r promotion.SyncRequest) error {
	return c.change(ctx, key, "sync", func(app *unstructured.Unstructured) (bool, error) {
		started, err := startedAlready(app, r)
		if err != nil || started {
			return false, err
		}
		app.Object["operation"] = operationFor(app, r)
		return true, nil
	})
}

// startedAlready tells whether this promotion's sync of this revision runs, or ran and did not fail.
// Another one's operation that has not ended is ErrOperationRunning.
func startedAlready(app *unstructured.Unstructured, r promotion.SyncRequest) (bool, error) {
	running, asked, _ := unstructured.NestedMap(app.Object, "operation")
	last, _, _ := unstructured.NestedMap(app.Object, "status", "operationState", "operation")
	phase, _, _ := unstructured.NestedString(app.Object, "status", "operationState", "phase")
	if !asked && (phase == "Running" || phase == "Terminating") {
		running, asked = last, true
	}
	switch {
	case asked && isOurs(running, r):
		return true, nil
	case asked:
		by, _, _ := unstructured.NestedString(running, "initiatedBy", "username")
		return false, fmt.Errorf("%w, started by %s", promotion.ErrOperationRunning, nameOf(by))
	}
	return !r.Restores && phase == "Succeeded" && isOurs(last, r) && applied(app, r), nil
}

func nameOf(username string) string {
	if username == "" {
		return "Argo CD"
	}
	return username
}

func isOurs(operation map[string]any, r promotion.SyncRequest) bool {
	return revisionIn(operation, "sync", r.Revision) && slices.Contains(purposesIn(operation), any(purposeOf(r)))
}

// purposesIn are what Sluice asked for an operation for; none when it is somebody else's.
func purposesIn(operation map[string]any) (purposes []any) {
	info, _, _ := unstructured.NestedSlice(operation, "info")
	for _, i := range info {
		if m, _ := i.(map[string]any); m["name"] == infoName {
			purposes = append(purposes, m["value"])
		}
	}
	return purposes
}

// purposeOf is what an operation is for: a promotion's number.
func purposeOf(r promotion.SyncRequest) string {
	if r.Restores {
		return "restores live objects"
	}
	return strconv.FormatInt(r.PromotionID, 10)
}

// applied compares with the operation's result: its recorded request is merged over that of the operation before,
// and may name a promotion that it is not of.
func applied(app *unstructured.Unstructured, r promotion.SyncRequest) bool {
	state, _, _ := unstructured.NestedMap(app.Object, "status", "operationState")
	return revisionIn(state, "syncResult", r.Revision)
}

func revisionIn(m map[string]any, field, revision string) bool {
	one, _, _ := unstructured.NestedString(m, field, "revision")
	many, _, _ := unstructured.NestedStringSlice(m, field, "revisions")
	return one == revision || slices.Contains(many, revision)
}

// operationFor asks for the sync. An operation that is written to the object ignores the
// Application's own sync options and retry, so they are copied into it.
func operationFor(app *unstructured.Unstructured, r promotion.SyncRequest) map[string]any {
	sync := map[string]any{"prune": true}
	if revisions := revisionsFor(app, r.Revision); revisions != nil {
		sync["revisions"] = revisions
	} else {
		sync["revision"] = r.Revision
	}
	if options, found, _ := unstructured.NestedSlice(app.Object, "spec", "syncPolicy", "syncOptions"); found {
		sync["syncOptions"] = options
	}
	operation := map[string]any{
		"initiatedBy": map[string]any{"username": r.InitiatedBy},
		"info":        []any{map[string]any{"name": infoName, "value": purposeOf(r)}},
		"sync":        sync,
	}
	if again, found, _ := unstructured.NestedMap(app.Object, "spec", "syncPolicy", "retry"); found {
		operation["retry"] = again
	}
	return operation
}

// revisionsFor names the revision of each source of an Application that has several: the followed one's is given,
// the others stay at their own target. Nil for an Application of one source.
func revisionsFor(app *unstructured.Unstructured, revision string) []any {
	followed := health.FollowedSource(app)
	if followed < 0 {
		return nil
	}
	sources, _, _ := unstructured.NestedSlice(app.Object, "spec", "sources")
	revisions := make([]any, len(sources))
	for i, s := range sources {
		source, _ := s.(map[string]any)
		target, _ := source["targetRevision"].(string)
		if revisions[i] = target; i == followed {
			revisions[i] = revision
		}
	}
	return revisions
}
