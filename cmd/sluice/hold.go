package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/client"
)

func newHoldCommand() *cobra.Command {
	var r api.HoldRequest
	cmd := &cobra.Command{
		Use:   "hold {--application NAME --environment NAME | --everything} --reason TEXT",
		Short: "Keep a target as it is until somebody resumes it, or stop everything",
		Args:  arguments(cobra.NoArgs),
	}
	holdFlags(cmd, &r)
	cmd.Flags().StringVar(&r.Reason, "reason", "", "why, for everybody who is held by it")
	cmd.AddCommand(newHoldListCommand())
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (api.HoldList, error) {
		if err := oneTarget(cmd, r); err != nil {
			return api.HoldList{}, err
		}
		if err := needed(cmd, "reason"); err != nil {
			return api.HoldList{}, err
		}
		return c.Hold(cmd.Context(), r)
	}, showHolds)
}

func newResumeCommand() *cobra.Command {
	var r api.HoldRequest
	cmd := &cobra.Command{
		Use:   "resume {--application NAME --environment NAME | --everything}",
		Short: "End a hold; shows what still holds it",
		Args:  arguments(cobra.NoArgs),
	}
	holdFlags(cmd, &r)
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (api.HoldList, error) {
		if err := oneTarget(cmd, r); err != nil {
			return api.HoldList{}, err
		}
		return c.Resume(cmd.Context(), api.ResumeRequest{Application: r.Application, Environment: r.Environment, Everything: r.Everything})
	}, showHolds)
}

func holdFlags(cmd *cobra.Command, r *api.HoldRequest) {
	flags := cmd.Flags()
	flags.StringVar(&r.Application, "application", "", "name of the application")
	flags.StringVar(&r.Environment, "environment", "", "name of the environment")
	flags.BoolVar(&r.Everything, "everything", false, "every target; those held by themselves stay held when it is resumed")
}

// oneTarget refuses flags that name neither a target nor everything, or both.
func oneTarget(cmd *cobra.Command, r api.HoldRequest) error {
	if !r.Everything {
		return needed(cmd, "application", "environment")
	}
	if r.Application != "" || r.Environment != "" {
		return wrongUse("give --application and --environment, or --everything")
	}
	return nil
}

func newHoldListCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List what is held, by whom and why", Args: arguments(cobra.NoArgs)}
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (api.HoldList, error) {
		return c.Holds(cmd.Context())
	}, showHolds)
}

func showHolds(out io.Writer, list api.HoldList) {
	if len(list.Items) == 0 {
		row(out, "nothing is held")
		return
	}
	row(out, "ID", "APPLICATION", "ENVIRONMENT", "HELD BY", "SINCE", "REASON")
	for _, h := range list.Items {
		application, environment := h.Application, h.Environment
		if h.Everything {
			application, environment = "everything", "everywhere"
		}
		row(out, fmt.Sprint(h.ID), application, environment, h.HeldBy, stamp(h.HeldAt), h.Reason)
	}
}
