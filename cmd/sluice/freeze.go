package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/client"
)

func newFreezeCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "freeze", Short: "Let nothing out for a time"}
	cmd.AddCommand(
		newFreezeStartCommand(api.FreezeRequestKindFreeze, &cobra.Command{
			Use:     "create --until TIME --reason TEXT --owner NAME",
			Short:   "Start a one-off freeze",
			Example: `  sluice freeze create --environment 'prod-*' --from 2026-12-24T00:00:00Z --until +48h --reason "the fair" --owner ops`,
		}),
		newFreezeListCommand(), newFreezeEndCommand())
	return cmd
}

// newWindowCommand is about one-off windows on a server; sluice windows is about recurring ones in a file.
func newWindowCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "window", Short: "Let changes out although no sync window is open"}
	cmd.AddCommand(newFreezeStartCommand(api.FreezeRequestKindWindow, &cobra.Command{
		Use:   "open --until TIME --reason TEXT --owner NAME",
		Short: "Open a one-off window; sluice freeze lists and ends it",
		Long: `Open a one-off window: changes may go out although no recurring window is open. A
freeze, and a deny window of the policy, win over it. sluice freeze lists and ends it.`,
		Example: `  sluice window open --application web --environment prod --until +2h --reason "the fix for #812" --owner rita`,
	}))
	return cmd
}

func newFreezeStartCommand(kind api.FreezeRequestKind, cmd *cobra.Command) *cobra.Command {
	r := api.FreezeRequest{Kind: kind}
	var plan bool
	cmd.Args = arguments(cobra.NoArgs)
	flags := cmd.Flags()
	flags.Var((*moment)(&r.StartsAt), "from", "when it starts, RFC 3339 or from now such as +2h; now when left out")
	flags.Var((*moment)(&r.EndsAt), "until", "when it ends, RFC 3339 or from now such as +2h")
	flags.StringVar(&r.Reason, "reason", "", "why, for everybody it is about")
	flags.StringVar(&r.Owner, "owner", "", "whom to ask about it")
	flags.StringSliceVar(&r.Applications, "application", nil, "names or patterns such as web-*, separated by commas; all when left out")
	flags.StringSliceVar(&r.Environments, "environment", nil, "names or patterns; all when left out")
	flags.StringSliceVar(&r.Clusters, "cluster", nil, "names or patterns; all when left out")
	flags.BoolVar(&plan, "plan", false, "only list the targets it would be about")
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (any, error) {
		if err := needed(cmd, "until", "reason", "owner"); err != nil {
			return nil, err
		}
		if r.StartsAt.IsZero() {
			r.StartsAt.Time = time.Now().UTC().Truncate(time.Second)
		}
		if plan {
			return c.PlanFreeze(cmd.Context(), r)
		}
		return c.Freeze(cmd.Context(), r)
	}, showFreeze)
}

func showFreeze(out io.Writer, answer any) {
	switch answer := answer.(type) {
	case api.TargetList:
		row(out, "APPLICATION", "ENVIRONMENT", "PATH")
		for _, t := range answer.Items {
			row(out, t.Application, t.Environment, t.Path)
		}
	case api.Freeze:
		showFreezes(out, api.FreezeList{Items: []api.Freeze{answer}})
	}
}

func newFreezeListCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List one-off freezes and windows that have not ended", Args: arguments(cobra.NoArgs)}
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (api.FreezeList, error) {
		return c.Freezes(cmd.Context())
	}, showFreezes)
}

func showFreezes(out io.Writer, list api.FreezeList) {
	row(out, "ID", "KIND", "FROM", "UNTIL", "APPLICATIONS", "ENVIRONMENTS", "CLUSTERS", "OWNER", "CREATED BY", "REASON")
	all := func(names []string) string {
		if len(names) == 0 {
			return "all"
		}
		return strings.Join(names, ", ")
	}
	for _, z := range list.Items {
		row(out, fmt.Sprint(z.ID), string(z.Kind), stamp(z.StartsAt), stamp(z.EndsAt), all(z.Applications), all(z.Environments), all(z.Clusters),
			z.Owner, z.CreatedBy, z.Reason)
	}
}

func newFreezeEndCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "end FREEZE", Short: "End a freeze or window before its time", Args: arguments(cobra.ExactArgs(1))}
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, args []string) (ended, error) {
		id, err := numbered("freeze", args)
		if err != nil {
			return ended{}, err
		}
		return ended{id, "freeze or window %d has ended"}, c.EndFreeze(cmd.Context(), id)
	}, showEnded)
}
