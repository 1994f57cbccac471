package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/client"
)

func newOwedCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "owed", Short: "Releases that environments are owed since a hotfix went past them"}
	list := &cobra.Command{Use: "list", Short: "List what is owed where", Args: arguments(cobra.NoArgs)}
	cmd.AddCommand(newClientCommand(list, func(cmd *cobra.Command, c *client.Client, _ []string) (api.OwedList, error) {
		return c.Owed(cmd.Context())
	}, showOwed), newWaiveCommand())
	return cmd
}

func newWaiveCommand() *cobra.Command {
	var r api.WaiveRequest
	cmd := &cobra.Command{
		Use:   "waive --application NAME --environment NAME --release ID|VERSION --reason TEXT",
		Short: "Say that an environment need not get a release that it is owed",
		Args:  arguments(cobra.NoArgs),
	}
	flags := cmd.Flags()
	flags.StringVar(&r.Application, "application", "", "name of the application")
	flags.StringVar(&r.Environment, "environment", "", "name of the environment")
	flags.StringVar((*string)(&r.Release), "release", "", "id or version of the release")
	flags.StringVar(&r.Reason, "reason", "", "why it need not get it")
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (api.WaiveRequest, error) {
		if err := needed(cmd, "application", "environment", "release", "reason"); err != nil {
			return r, err
		}
		return r, c.Waive(cmd.Context(), r)
	}, func(out io.Writer, r api.WaiveRequest) {
		row(out, fmt.Sprintf("%s in %s need not get %s", r.Application, r.Environment, r.Release))
	})
}

func showOwed(out io.Writer, list api.OwedList) {
	if len(list.Items) == 0 {
		row(out, "nothing is owed")
		return
	}
	row(out, "APPLICATION", "ENVIRONMENT", "RELEASE", "LINE", "LIVE IN", "SINCE")
	for _, o := range list.Items {
		row(out, o.Application, o.Environment, o.Version, o.Line, o.LiveIn, stamp(o.Since))
	}
}
