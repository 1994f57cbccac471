package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
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
		client, err := clusterClient(c)
		if err != nil {
			return fmt.Errorf("cluster %s: %w", c.Name, err)
		}
		s.watch(cluster.Options{Name: c.Name, Client: client})
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

func clusterClient(c config.Cluster) (dynamic.Interface, error) {
	var settings *rest.Config
	var err error
	if c.Kubeconfig == "" {
		settings, err = rest.InClusterConfig()
	} else {
		rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: c.Kubeconfig}
		overrides := &clientcmd.ConfigOverrides{CurrentContext: c.Context}
		settings, err = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	}
	if err != nil {
		return nil, err
	}
	return dynamic.NewForConfig(settings)
}

func sluiceSignature() promotion.Signature {
	return promotion.Signature{Name: "Sluice", Email: "sluice@localhost", When: now()}
}
