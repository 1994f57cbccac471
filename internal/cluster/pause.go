package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"

	"github.com/sluicehq/sluice/internal/promotion"
)

// pausedAnnotation keeps, on an Application whose automatic sync is paused, what its spec.syncPolicy.automated was. So whoever
// reads the Application sees what became of it, and it comes back as it was.
const pausedAnnotation = "sluice/paused-automated-sync"

// PauseSync implements promotion.Cluster. The policy is taken away and not switched off: Argo CD before 3.1 knows no switch.
func (c *Cluster) PauseSync(ctx context.Context, key promotion.DeploymentKey) error {
	return c.change(ctx, key, "pause automatic sync of", func(app *unstructured.Unstructured) (bool, error) {
		automated, found, err := unstructured.NestedMap(app.Object, "spec", "syncPolicy", "automated")
		if err != nil || !found || automated["enabled"] == false {
			return false, err
		}
		kept, err := json.Marshal(automated)
		if err != nil {
			return false, err
		}
		annotate(app, string(kept))
		unstructured.RemoveNestedField(app.Object, "spec", "syncPolicy", "automated")
		return true, nil
	})
}

// ResumeSync implements promotion.Cluster. What somebody has set meanwhile stays.
func (c *Cluster) ResumeSync(ctx context.Context, key promotion.DeploymentKey) error {
	return c.change(ctx, key, "resume automatic sync of", func(app *unstructured.Unstructured) (bool, error) {
		kept, paused := app.GetAnnotations()[pausedAnnotation]
		if !paused {
			return false, nil
		}
		annotate(app, "")
		if _, set, _ := unstructured.NestedMap(app.Object, "spec", "syncPolicy", "automated"); set {
			return true, nil
		}
		automated := map[string]any{}
		if err := json.Unmarshal([]byte(kept), &automated); err != nil {
			return false, fmt.Errorf("its annotation %s cannot be read; set spec.syncPolicy.automated by hand: %w", pausedAnnotation, err)
		}
		return true, unstructured.SetNestedMap(app.Object, automated, "spec", "syncPolicy", "automated")
	})
}

// change reads an Application and writes it if alter has changed it. The resource version that was read guards the write. Argo CD
// writes its status to the same object, so a conflict is most often no more than that: look again and decide again.
func (c *Cluster) change(ctx context.Context, key promotion.DeploymentKey, what string, alter func(*unstructured.Unstructured) (bool, error)) error {
	apps := c.Client.Resource(Applications).Namespace(key.Namespace)
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		app, err := apps.Get(ctx, key.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return fmt.Errorf("the Argo CD Application does not exist: %w", promotion.ErrNotFound)
		} else if err != nil {
			return err
		}
		changed, err := alter(app)
		if err != nil || !changed {
			return err
		}
		_, err = apps.Update(ctx, app, metav1.UpdateOptions{FieldManager: "sluice"})
		return err
	})
	if err != nil {
		return fmt.Errorf("%s %s in cluster %s: %w", what, key.Name, c.Name, err)
	}
	return nil
}

// annotate keeps the policy on the Application, or takes the annotation off.
func annotate(app *unstructured.Unstructured, kept string) {
	all := app.GetAnnotations()
	if all == nil {
		all = map[string]string{}
	}
	if all[pausedAnnotation] = kept; kept == "" {
		delete(all, pausedAnnotation)
	}
	app.SetAnnotations(all)
}
