package argocd

import (
	"io/fs"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Desired implements promotion.Engine.
func (Engine) Desired(tree fs.FS, application []byte, repositoryURL, branch string) (promotion.Desired, error) {
	a, err := applicationFrom(application)
	if err != nil {
		return promotion.Desired{}, err
	}
	rendered, err := Render(tree, a, Known{RepositoryURL: repositoryURL, Branch: branch})
	if err != nil {
		return promotion.Desired{}, err
	}
	want := promotion.Desired{Namespace: a.Destination.Namespace, CreatesNamespace: a.SyncPolicy.HasOption("CreateNamespace=true"),
		SelfHeal: a.SyncPolicy.IsAutomated() && a.SyncPolicy.Automated.SelfHeal}
	for _, o := range rendered.Objects {
		want.Objects = append(want.Objects, runtime.DeepCopyJSON(o.Content))
	}
	for _, r := range a.IgnoreDifferences {
		want.IgnoreDifferences = append(want.IgnoreDifferences, promotion.IgnoreRule{Group: r.Group, Kind: r.Kind, Name: r.Name, Namespace: r.Namespace,
			JSONPointers: r.JSONPointers, JQPathExpressions: r.JQPathExpressions, Managers: r.ManagedFieldsManagers})
	}
	return want, nil
}
