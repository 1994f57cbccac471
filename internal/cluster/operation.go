package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluicehq/sluice/internal/promotion"
)

var (
	getOptions    = metav1.GetOptions{}
	updateOptions = metav1.UpdateOptions{FieldManager: "sluice"}
)

// infoName names the promotion in an operation's info, which Argo CD keeps with the operation's outcome.
const infoName = "sluice-promotion"

// startedAlready tells whether this promotion's sync of this revision was asked for before.
// Another one's operation that has not ended is ErrOperationRunning.
func startedAlready(app *unstructured.Unstructured, r promotion.SyncRequest) (bool, error) {
	waiting, pending, _ := unstructured.NestedMap(app.Object, "operation")
	if pending {
		if isOurs(waiting, r) {
			return true, nil
		}
		return false, fmt.Errorf("application %s: %w", app.GetName(), promotion.ErrOperationRunning)
	}
	last, known, _ := unstructured.NestedMap(app.Object, "status", "operationState", "operation")
	phase, _, _ := unstructured.NestedString(app.Object, "status", "operationState", "phase")
	switch {
	case known && isOurs(last, r) && phase != "Failed" && phase != "Error":
		return true, nil
	case known && (phase == "Running" || phase == "Terminating"):
		return false, fmt.Errorf("application %s: %w", app.GetName(), promotion.ErrOperationRunning)
	}
	return false, nil
}

func isOurs(operation map[string]any, r promotion.SyncRequest) bool {
	revision, _, _ := unstructured.NestedString(operation, "sync", "revision")
	info, _, _ := unstructured.NestedSlice(operation, "info")
	return revision == r.Revision && slices.ContainsFunc(info, func(i any) bool {
		m, _ := i.(map[string]any)
		return m["name"] == infoName && m["value"] == strconv.FormatInt(r.PromotionID, 10)
	})
}

// setOperation asks for the sync. An operation that is written by hand ignores the
// Application's own sync options and retry, so they are copied into it.
func setOperation(app *unstructured.Unstructured, r promotion.SyncRequest) error {
	sync := map[string]any{"revision": r.Revision}
	if options, found, _ := unstructured.NestedSlice(app.Object, "spec", "syncPolicy", "syncOptions"); found {
		sync["syncOptions"] = options
	}
	operation := map[string]any{
		"initiatedBy": map[string]any{"username": "sluice/" + r.InitiatedBy},
		"info":        []any{map[string]any{"name": infoName, "value": strconv.FormatInt(r.PromotionID, 10)}},
		"sync":        sync,
	}
	if retry, found, _ := unstructured.NestedMap(app.Object, "spec", "syncPolicy", "retry"); found {
		operation["retry"] = retry
	}
	if err := unstructured.SetNestedMap(app.Object, operation, "operation"); err != nil {
		return fmt.Errorf("write the operation of %s: %w", app.GetName(), err)
	}
	return nil
}

func sortedByName(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	slices.SortFunc(objects, func(a, b *unstructured.Unstructured) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return objects
}
