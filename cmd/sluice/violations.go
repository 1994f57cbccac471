package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/client"
)

func newViolationsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "violations", Short: "What went past a gate, and its review"}
	cmd.AddCommand(newViolationsListCommand(), newReviewCommand("violation", (*client.Client).ReviewViolation))
	return cmd
}

func newViolationsListCommand() *cobra.Command {
	var all bool
	var limit int
	cmd := &cobra.Command{Use: "list", Short: "List what nobody has reviewed yet, newest first", Args: arguments(cobra.NoArgs)}
	cmd.Flags().BoolVar(&all, "all", false, "also what was reviewed")
	cmd.Flags().IntVar(&limit, "limit", 50, "most of them, up to 200")
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (api.ViolationList, error) {
		if limit < 1 || limit > 200 {
			return api.ViolationList{}, wrongUse("--limit %d: give a number from 1 to 200", limit)
		}
		return c.Violations(cmd.Context(), !all, limit)
	}, showViolations)
}

func showViolations(out io.Writer, list api.ViolationList) {
	row(out, "ID", "APPLICATION", "ENVIRONMENT", "KIND", "BY", "FOUND", "REVIEWED BY", "WHAT")
	for _, v := range list.Items {
		row(out, fmt.Sprint(v.ID), v.Application, v.Environment, string(v.Kind), v.Actor, stamp(v.FoundAt), v.ClosedBy, v.Message)
	}
}

// newReviewCommand closes the review of an override or a violation.
func newReviewCommand(what string, review func(c *client.Client, ctx context.Context, id int64, review string) error) *cobra.Command {
	var found string
	cmd := &cobra.Command{
		Use:   fmt.Sprintf("review %s --review TEXT", strings.ToUpper(what)),
		Short: "Close the review; whoever it is about cannot",
		Args:  arguments(cobra.ExactArgs(1)),
	}
	cmd.Flags().StringVar(&found, "review", "", "what you found, and what follows from it")
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, args []string) (ended, error) {
		id, err := numbered(what, args)
		if err != nil {
			return ended{}, err
		}
		if err := needed(cmd, "review"); err != nil {
			return ended{}, err
		}
		return ended{id, what + " %d is reviewed"}, review(c, cmd.Context(), id, found)
	}, showEnded)
}
