package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"github.com/sluicehq/sluice/internal/cluster"
	"github.com/sluicehq/sluice/internal/config"
)

// newDoctorCommand says what Sluice may do in its clusters.
func newDoctorCommand() *cobra.Command {
	var file, only string
	f := clientFlags{}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say for each cluster what Sluice may and may not do there, and what to do about it",
		Long: `Ask each cluster of the configuration for its version, what deploys there, and what
Sluice's account may do: each right that Sluice uses, whether it can ask for dry runs,
and whether an admission policy keeps it from writing. Run it with the credentials that
the server uses. It stores nothing in the cluster.

Exit status: 0 when Sluice may do all it does, 1 when something is missing or unknown,
2 when the configuration is wrong.`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkOutput(f.output); err != nil {
				return err
			}
			c, err := config.Read(file)
			if err != nil {
				return &exitError{Code: 2, Err: err}
			}
			reports, err := examine(cmd.Context(), c, only)
			if err != nil {
				return err
			}
			if err := f.print(cmd.OutOrStdout(), doctorAnswer(reports), func(out io.Writer) { showDoctor(out, reports) }); err != nil {
				return err
			}
			for _, r := range reports {
				if !r.Healthy() {
					return &exitError{Code: 1}
				}
			}
			return nil
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().StringVar(&only, "cluster", "", "the name of one cluster; all when not given")
	cmd.Flags().StringVarP(&f.output, "output", "o", "text", "text or json")
	return cmd
}

// examine asks the clusters, one after the other.
func examine(ctx context.Context, c config.Config, only string) ([]cluster.Report, error) {
	var reports []cluster.Report
	for _, k := range c.Clusters {
		if only != "" && k.Name != only {
			continue
		}
		doctor, err := doctorFor(k)
		if err != nil {
			return nil, wrongUse("cluster %s: %w", k.Name, err)
		}
		reports = append(reports, doctor.Look(ctx))
	}
	switch {
	case len(reports) == 0 && only != "":
		return nil, wrongUse("the configuration has no cluster %q", only)
	case len(reports) == 0:
		return nil, wrongUse("the configuration has no clusters")
	}
	return reports, nil
}

func doctorFor(k config.Cluster) (cluster.Doctor, error) {
	settings, err := clusterSettings(k)
	if err != nil {
		return cluster.Doctor{}, err
	}
	settings.Timeout = doctorTimeout
	client, err := dynamic.NewForConfig(settings)
	if err != nil {
		return cluster.Doctor{}, err
	}
	served, err := discovery.NewDiscoveryClientForConfig(settings)
	if err != nil {
		return cluster.Doctor{}, err
	}
	kinds := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(served))
	return cluster.Doctor{Inspector: cluster.Inspector{Name: k.Name, Client: client, Kinds: kinds, Account: k.EngineAccount}, Discovery: served}, nil
}

func showDoctor(out io.Writer, reports []cluster.Report) {
	for i, r := range reports {
		if i > 0 {
			_, _ = fmt.Fprintln(out) // a tabwriter keeps its error for Flush
		}
		if r.Problem != "" {
			row(out, "cluster "+r.Cluster, "unknown", r.Problem)
			continue
		}
		row(out, "cluster "+r.Cluster, r.Server, "as "+r.Account)
		for _, e := range r.Engines {
			row(out, e.Name, strings.Join(e.Versions, ", "), e.Group)
		}
		for _, a := range r.Rights {
			row(out, rightName(a), string(a.State), a.For+said(a.Ability))
		}
		row(out, "every dry run", string(r.DryRun.State), "ask what a sync would do"+said(r.DryRun))
		row(out, "guarded", string(r.Guarded.State), "write with dry-run only"+said(r.Guarded))
	}
}

func rightName(a cluster.Right) string {
	name := a.Verb + " " + a.Resource
	if a.Group != "" {
		name += "." + a.Group
	}
	return name
}

func said(a cluster.Ability) string {
	text := ""
	if a.Why != "" {
		text += ": " + a.Why
	}
	if a.Next != "" {
		text += ". " + a.Next
	}
	return text
}
