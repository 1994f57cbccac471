package cluster

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
)

// Discovery asks an API server what it serves, for Options.Served.
func Discovery(client *discovery.DiscoveryClient) func(context.Context, string) ([]string, error) {
	return func(ctx context.Context, apiVersion string) ([]string, error) {
		list, err := client.ServerResourcesForGroupVersionWithContext(ctx, apiVersion)
		if apierrors.IsNotFound(err) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		var kinds []string
		for _, r := range list.APIResources {
			kinds = append(kinds, r.Kind)
		}
		return kinds, nil
	}
}
