package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/sluicehq/sluice/internal/cluster"
	"github.com/sluicehq/sluice/internal/config"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/registry"
)

func newServeCommand(options ...serverOption) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server against your own Postgres, config repositories, clusters and registries",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.Read(file)
			if err == nil {
				err = knownKinds(c.Notifications)
			}
			if err != nil {
				return &exitError{Code: 2, Err: err}
			}
			return serve(cmd.Context(), newServer(c, options))
		},
	}
	configFlag(cmd, &file)
	return cmd
}

func serve(ctx context.Context, s *server) error {
	if err := s.listen(); err != nil {
		return err
	}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	s.answer()
	for _, r := range s.config.Repositories {
		if r.Host != config.BuiltIn {
			continue
		}
		if err := s.host.Create(ctx, r.Name, firstFiles(r.Name), sluiceSignature()); err != nil {
			return err
		}
	}
	images := registry.New(registry.Options{UserAgent: "sluice/" + version, PlainHTTP: s.config.Registries.PlainHTTP})
	if err := s.connect(ctx, images); err != nil {
		return err
	}
	for _, c := range s.config.Clusters {
		options, kinds, err := clusterOptions(c)
		if err != nil {
			return fmt.Errorf("cluster %s: %w", c.Name, err)
		}
		s.watch(options, kinds, c.EngineAccount)
	}
	if err := s.openDoors(); err != nil {
		return err
	}
	s.log.Info("Sluice answers", "address", s.config.PublicURL)
	return s.work(ctx)
}

// firstFiles are a new built-in repository's first commit.
func firstFiles(name string) map[string][]byte {
	return map[string][]byte{"README.md": []byte("# " + name + "\n\nPut `apps/<application>/base` and `apps/<application>/overlays/<environment>` here.\n")}
}

// version is set when a release is built.
var version = "dev"

// clusterOptions say how to reach a cluster, and what kinds it serves. Nothing is asked yet.
func clusterOptions(c config.Cluster) (cluster.Options, meta.RESTMapper, error) {
	o := cluster.Options{Name: c.Name}
	settings, err := clusterSettings(c)
	if err != nil {
		return o, nil, err
	}
	if o.Client, err = dynamic.NewForConfig(settings); err != nil {
		return o, nil, err
	}
	served, err := discovery.NewDiscoveryClientForConfig(settings)
	if err != nil {
		return o, nil, err
	}
	o.Served, o.Output = cluster.Discovery(served), cluster.Logs(served.RESTClient())
	return o, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(served)), nil
}

func clusterSettings(c config.Cluster) (*rest.Config, error) {
	if c.Kubeconfig == "" {
		return rest.InClusterConfig()
	}
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: c.Kubeconfig}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: c.Context}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
}

func sluiceSignature() promotion.Signature {
	return promotion.Signature{Name: "Sluice", Email: "sluice@localhost", When: now()}
}
