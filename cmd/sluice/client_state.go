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

func newStatusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [APPLICATION]",
		Short: "What runs now, and what is on its way",
		Args:  arguments(cobra.MaximumNArgs(1)),
	}
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, args []string) (api.ApplicationList, error) {
		if len(args) == 0 {
			return c.Applications(cmd.Context(), "")
		}
		list, err := c.Applications(cmd.Context(), args[0])
		if err == nil && len(list.Items) == 0 {
			err = &exitError{Code: 1, Err: fmt.Errorf("there is no application %s: sluice status lists all", args[0])}
		}
		return list, err
	}, showStatus)
}

func showStatus(out io.Writer, list api.ApplicationList) {
	row(out, "APPLICATION", "ENVIRONMENT", "CLUSTER", "VERSION", "SYNC", "HEALTH", "SINCE", "ON ITS WAY")
	for _, a := range list.Items {
		for _, e := range a.Environments {
			way := onItsWay(e)
			for _, d := range e.Deployments {
				row(out, a.Application, e.Environment, d.Cluster, d.Version, string(d.Sync), string(d.Health), stamp(d.Since), way)
			}
			if len(e.Deployments) == 0 {
				row(out, a.Application, e.Environment, "", "", "", "", "", way)
			}
		}
	}
}

func onItsWay(e api.Environment) string {
	if e.RenderProblem != "" {
		return "does not render: " + e.RenderProblem
	}
	if e.Promotion == nil {
		return ""
	}
	p := e.Promotion
	return strings.TrimSpace(fmt.Sprintf("promotion %d: %s, %s. %s", p.ID, p.Version, p.State, p.WaitsFor))
}

func newHistoryCommand() *cobra.Command {
	var f client.HistoryFilter
	var at string
	cmd := &cobra.Command{
		Use:     "history",
		Short:   "What ran where, newest first",
		Example: `  sluice history --application web --environment prod --at 2026-03-01T02:30:00Z`,
		Args:    arguments(cobra.NoArgs),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Application, "application", "", "only this application")
	flags.StringVar(&f.Environment, "environment", "", "only this environment")
	flags.StringVar(&at, "at", "", "only what ran at this moment, RFC 3339")
	flags.IntVar(&f.Limit, "limit", 50, "most entries, up to 200")
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (list api.HistoryList, err error) {
		if at != "" {
			if f.At, err = time.Parse(time.RFC3339, at); err != nil {
				return list, wrongUse("--at %q is no RFC 3339 time such as 2026-03-01T02:30:00Z", at)
			}
		}
		if f.Limit < 1 || f.Limit > 200 {
			return list, wrongUse("--limit %d: give a number from 1 to 200", f.Limit)
		}
		return c.History(cmd.Context(), f)
	}, showHistory)
}

func showHistory(out io.Writer, list api.HistoryList) {
	row(out, "APPLICATION", "ENVIRONMENT", "CLUSTER", "VERSION", "SYNC", "HEALTH", "FROM", "TO", "REQUESTED BY", "APPROVED BY", "MERGED BY")
	for _, e := range list.Items {
		to := "now"
		if e.To != nil {
			to = stamp(*e.To)
		}
		row(out, e.Application, e.Environment, e.Cluster, e.Version, string(e.Sync), string(e.Health), stamp(e.From), to,
			e.RequestedBy, strings.Join(e.ApprovedBy, ", "), e.MergedBy)
	}
	if list.NextCursor != "" {
		row(out, "older entries are left out: see --limit and --at")
	}
}
