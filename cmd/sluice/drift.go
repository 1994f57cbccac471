package main

import (
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/client"
)

func newDriftCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "drift", Short: "What live objects have that Git does not say"}
	cmd.AddCommand(newDriftListCommand(), newDriftAdoptCommand())
	return cmd
}

func newDriftListCommand() *cobra.Command {
	var application, environment string
	var all bool
	var limit int
	cmd := &cobra.Command{Use: "list", Short: "List fields that are not as Git says, and where that is unknown", Args: arguments(cobra.NoArgs)}
	targetFlags(cmd, &application, &environment)
	cmd.Flags().BoolVar(&all, "all", false, "also what was resolved")
	cmd.Flags().IntVar(&limit, "limit", 50, "most of them, up to 200")
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (api.DriftList, error) {
		if limit < 1 || limit > 200 {
			return api.DriftList{}, wrongUse("--limit %d: give a number from 1 to 200", limit)
		}
		return c.Drifts(cmd.Context(), application, environment, !all, limit)
	}, showDrifts)
}

// writers are the people whom the cluster's audit names, or else the program that owns the field.
func writers(d api.Drift) string {
	var people []string
	for _, w := range d.WrittenBy {
		people = append(people, w.User)
	}
	if len(people) == 0 {
		return d.Owner
	}
	return strings.Join(people, " or ") + ": " + d.Owner
}

func showDrifts(out io.Writer, list api.DriftList) {
	row(out, "ID", "APPLICATION", "ENVIRONMENT", "OBJECT", "FIELD", "GIT", "CLUSTER", "CLASS", "BY", "FIRST SEEN", "RESOLVED", "DOES NOT COUNT")
	for _, d := range list.Items {
		row(out, strconv.FormatInt(d.ID, 10), d.Application, d.Environment, d.Object, d.Path, d.Want, d.Have, string(d.Class), writers(d), stamp(d.FirstSeenAt), stamp(d.ResolvedAt), d.Excuse)
	}
	if list.NextCursor != "" {
		row(out, "older ones are left out: see --limit")
	}
	for _, l := range list.Looks {
		if l.Problem != "" {
			row(out, "", l.Application, l.Environment, "unknown since "+stamp(l.ProblemSince)+": "+l.Problem)
		}
	}
}
