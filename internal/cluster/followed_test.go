package cluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/internal/cluster"
	"github.com/sluicehq/sluice/internal/promotion"
)

func TestWhatDeploymentsConsistOfIsFollowed(t *testing.T) {
	t.Parallel()
	client := apiServer(t)
	if _, err := cluster.New(cluster.Options{Name: "prod-eu", Client: client, Now: time.Now}).Followed(promotion.LiveRef{Resource: "configmaps"}); err == nil {
		t.Error("what was not seen yet is not known")
	}
	synctest.Test(t, func(t *testing.T) {
		c, _ := watch(t, apiServer(t, webProd+`
status:
  resources:
  - {group: apps, version: v1, kind: Deployment, namespace: shop, name: web}
  - {group: networking.k8s.io, version: v1, kind: NetworkPolicy, namespace: shop, name: web}
  - {version: v1, kind: Namespace, name: shop}
`))
		for want, ref := range map[string]promotion.LiveRef{
			"Deployment.apps shop/web":                 {Group: "apps", Resource: "deployments", Namespace: "shop", Name: "web"},
			"NetworkPolicy.networking.k8s.io shop/web": {Group: "networking.k8s.io", Resource: "networkpolicies", Namespace: "shop", Name: "web"},
			"Namespace shop":                           {Resource: "namespaces", Name: "shop"},
		} {
			if got, err := c.Followed(ref); err != nil || got != want {
				t.Errorf("%+v is %q (%v), want %q", ref, got, err, want)
			}
		}
		for _, ref := range []promotion.LiveRef{
			{Group: "apps", Resource: "deployments", Namespace: "other", Name: "web"},
			{Group: "apps", Resource: "statefulsets", Namespace: "shop", Name: "web"},
			{Resource: "deployments", Namespace: "shop", Name: "web"},
		} {
			if got, err := c.Followed(ref); err != nil || got != "" {
				t.Errorf("%+v is %q (%v)", ref, got, err)
			}
		}
	})
}
