package cluster

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/sluicehq/sluice/internal/promotion"
)

// AppProjects are looked at when somebody asks: they are few and seldom change.
var AppProjects = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "appprojects"}

var _ promotion.ProjectReader = (*Cluster)(nil)

// Projects implements promotion.ProjectReader.
func (c *Cluster) Projects(ctx context.Context) ([][]byte, error) {
	list, err := c.Client.Resource(AppProjects).List(ctx, metav1.ListOptions{})
	if apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("Sluice may not list AppProjects in cluster %s: grant it that", c.Name) //nolint:staticcheck // a name
	} else if err != nil {
		return nil, fmt.Errorf("list the AppProjects of cluster %s: %w", c.Name, err)
	}
	all := make([][]byte, len(list.Items))
	for i := range list.Items {
		list.Items[i].SetManagedFields(nil)
		if all[i], err = list.Items[i].MarshalJSON(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// heldBack is what Argo CD says of an operation that a sync window holds back.
const heldBack = "blocked by sync window"

// terminateHeld ends an operation of Sluice's that a window closed on before Argo CD began it: it would start by itself when the window
// opens, past every gate.
func (c *Cluster) terminateHeld(ctx context.Context, name cache.ObjectName) error {
	obj, exists, err := c.informers[Applications].GetStore().GetByKey(name.String())
	app, ok := obj.(*unstructured.Unstructured)
	if err != nil || !exists || !ok {
		return err
	}
	phase, _, _ := unstructured.NestedString(app.Object, "status", "operationState", "phase")
	message, _, _ := unstructured.NestedString(app.Object, "status", "operationState", "message")
	operation, asked, _ := unstructured.NestedMap(app.Object, "operation")
	if !asked || phase != "Running" || !strings.Contains(message, heldBack) || len(purposesIn(operation)) == 0 {
		return nil
	}
	ended := app.DeepCopy()
	if err := unstructured.SetNestedField(ended.Object, "Terminating", "status", "operationState", "phase"); err != nil {
		return err
	}
	_, err = c.Client.Resource(Applications).Namespace(app.GetNamespace()).Update(ctx, ended, metav1.UpdateOptions{FieldManager: "sluice"})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil // it has changed: the next look decides anew
	}
	return err
}
