package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/client"
)

func newOverrideCommand() *cobra.Command {
	var r api.OverrideRequest
	var gates []string
	cmd := &cobra.Command{
		Use:   "override --application NAME --environment NAME --gate NAME --until TIME --reason TEXT",
		Short: "Break the glass: open gates of a target for a time",
		Long: `Break the glass: open gates of a target for at most 24 hours. It stands on the
promotion, its pull request and the board, and somebody else reviews it afterwards.`,
		Example: `  sluice override --application web --environment prod --gate sync-window,approvals --until +1h \
    --reason "payments are down" --incident https://incidents.example.com/42`,
		Args: arguments(cobra.NoArgs),
	}
	flags := cmd.Flags()
	flags.StringVar(&r.Application, "application", "", "name of the application")
	flags.StringVar(&r.Environment, "environment", "", "name of the environment")
	flags.StringSliceVar(&gates, "gate", nil, "gates to open, separated by commas, such as sync-window")
	flags.Var((*moment)(&r.ExpiresAt), "until", "when it ends, RFC 3339 or from now such as +1h")
	flags.StringVar(&r.Reason, "reason", "", "why, for everybody who sees it")
	flags.StringVar(&r.Incident, "incident", "", "link to the incident")
	cmd.AddCommand(newOverrideListCommand(), newReviewCommand("override", (*client.Client).ReviewOverride))
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (api.Override, error) {
		if err := needed(cmd, "application", "environment", "gate", "until", "reason"); err != nil {
			return api.Override{}, err
		}
		for _, g := range gates {
			r.Gates = append(r.Gates, api.OverridableGate(g))
		}
		return c.Override(cmd.Context(), r)
	}, func(out io.Writer, o api.Override) { showOverrides(out, api.OverrideList{Items: []api.Override{o}}) })
}

func newOverrideListCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List overrides that are in force or wait for their review", Args: arguments(cobra.NoArgs)}
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (api.OverrideList, error) {
		return c.Overrides(cmd.Context())
	}, showOverrides)
}

func showOverrides(out io.Writer, list api.OverrideList) {
	row(out, "ID", "APPLICATION", "ENVIRONMENT", "GATES", "GIVEN BY", "UNTIL", "REVIEWED BY", "REASON", "INCIDENT")
	for _, o := range list.Items {
		row(out, fmt.Sprint(o.ID), o.Application, o.Environment, strings.Join(o.Gates, ", "), o.GivenBy, stamp(o.ExpiresAt), o.ReviewedBy,
			o.Reason, o.Incident)
	}
}
