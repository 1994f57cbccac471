package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/client"
)

func newSyncPauseCommand() *cobra.Command {
	var r api.SyncPauseRequest
	cmd := &cobra.Command{
		Use:   "sync-pause --application NAME --environment NAME --until TIME --reason TEXT",
		Short: "Keep Argo CD from syncing a target by itself, until somebody resumes it",
		Long: `Keep Argo CD from syncing a target by itself, for an emergency in which somebody changes
the cluster by hand. It lasts until somebody resumes it; from --until on it is shown as
overdue.`,
		Example: `  sluice sync-pause --application web --environment dev --until +2h --reason "debugging INC-77 by hand"
  sluice sync-pause resume --application web --environment dev`,
		Args: arguments(cobra.NoArgs),
	}
	targetFlags(cmd, &r.Application, &r.Environment)
	flags := cmd.Flags()
	flags.StringVar(&r.Owner, "owner", "", "who sees to it that it ends; you when not given")
	flags.Var((*moment)(&r.ExpiresAt), "until", "when it should end, RFC 3339 or from now such as +2h")
	flags.StringVar(&r.Reason, "reason", "", "why, for everybody who wonders that nothing is synced")
	cmd.AddCommand(newSyncPauseListCommand(), newSyncPauseResumeCommand())
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (api.SyncPauseList, error) {
		if err := needed(cmd, "application", "environment", "until", "reason"); err != nil {
			return api.SyncPauseList{}, err
		}
		p, err := c.PauseSync(cmd.Context(), r)
		return api.SyncPauseList{Items: []api.SyncPause{p}}, err
	}, showSyncPauses)
}

func newSyncPauseResumeCommand() *cobra.Command {
	var r api.SyncResumeRequest
	cmd := &cobra.Command{Use: "resume --application NAME --environment NAME", Short: "Have Argo CD sync the target by itself again", Args: arguments(cobra.NoArgs)}
	targetFlags(cmd, &r.Application, &r.Environment)
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (api.SyncPauseList, error) {
		if err := needed(cmd, "application", "environment"); err != nil {
			return api.SyncPauseList{}, err
		}
		return c.ResumeSync(cmd.Context(), r)
	}, showSyncPauses)
}

func newSyncPauseListCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List where automatic sync is paused, by whom and why", Args: arguments(cobra.NoArgs)}
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (api.SyncPauseList, error) {
		return c.SyncPauses(cmd.Context())
	}, showSyncPauses)
}

func targetFlags(cmd *cobra.Command, application, environment *string) {
	cmd.Flags().StringVar(application, "application", "", "name of the application")
	cmd.Flags().StringVar(environment, "environment", "", "name of the environment")
}

func showSyncPauses(out io.Writer, list api.SyncPauseList) {
	if len(list.Items) == 0 {
		row(out, "nothing is paused")
		return
	}
	row(out, "ID", "APPLICATION", "ENVIRONMENT", "OWNER", "PAUSED BY", "UNTIL", "OVERDUE", "REASON")
	for _, p := range list.Items {
		overdue := ""
		if p.Overdue {
			overdue = "overdue"
		}
		row(out, fmt.Sprint(p.ID), p.Application, p.Environment, p.Owner, p.PausedBy, stamp(p.ExpiresAt), overdue, p.Reason)
	}
}
