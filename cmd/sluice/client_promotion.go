package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/client"
)

func newPromoteCommand() *cobra.Command {
	var r api.PromotionRequest
	cmd := &cobra.Command{
		Use:   "promote --application NAME --environment NAME --release ID|VERSION",
		Short: "Ask for a release in an environment",
		Args:  arguments(cobra.NoArgs),
	}
	flags := cmd.Flags()
	flags.StringVar(&r.Application, "application", "", "name of the application")
	flags.StringVar(&r.Environment, "environment", "", "name of the environment")
	flags.StringVar((*string)(&r.Release), "release", "", "id or version of the release")
	flags.StringVar(&r.Reason, "reason", "", "why, for whoever reviews it")
	flags.BoolVar(&r.Hotfix, "hotfix", false, "go past the environments before it, which are owed it afterwards; needs --reason")
	flags.StringSliceVar(&r.With, "with", nil, "further environments for the same pull request; each passes its own gates")
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (api.Promotion, error) {
		if err := needed(cmd, "application", "environment", "release"); err != nil {
			return api.Promotion{}, err
		}
		if r.Hotfix {
			if err := needed(cmd, "reason"); err != nil {
				return api.Promotion{}, err
			}
		}
		return c.Promote(cmd.Context(), r)
	}, showPromotion)
}

func newApproveCommand() *cobra.Command {
	var reject bool
	var comment string
	cmd := &cobra.Command{
		Use:   "approve PROMOTION",
		Short: "Approve a promotion, or reject it",
		Args:  arguments(cobra.ExactArgs(1)),
	}
	cmd.Flags().BoolVar(&reject, "reject", false, "reject it; say why with --comment")
	cmd.Flags().StringVar(&comment, "comment", "", "what whoever asked for it should read")
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, args []string) (api.Promotion, error) {
		id, err := numbered("promotion", args)
		if err != nil {
			return api.Promotion{}, err
		}
		decision := api.DecisionRequestDecisionApprove
		if reject {
			decision = api.DecisionRequestDecisionReject
			if err := needed(cmd, "comment"); err != nil {
				return api.Promotion{}, err
			}
		}
		return c.Decide(cmd.Context(), id, api.DecisionRequest{Decision: decision, Comment: comment})
	}, showPromotion)
}

func showPromotion(out io.Writer, p api.Promotion) {
	row(out, fmt.Sprintf("promotion %d", p.ID), string(p.State))
	if p.Release == nil {
		row(out, string(p.Kind), fmt.Sprintf("of %s in %s, which matches no release", p.Application, p.Environment))
	} else {
		row(out, "release", releaseTo(p.Application, p.Version, *p.ReleaseNumber, *p.Release, p.Environment))
	}
	if p.Hotfix {
		row(out, "hotfix", "goes past the environments before "+p.Environment)
	}
	if p.Behind != 0 {
		row(out, "queue", fmt.Sprintf("behind promotion %d", p.Behind))
	}
	if p.Restore.Commit != "" {
		row(out, "configuration", "as of commit "+p.Restore.Commit)
	}
	row(out, "requested", fmt.Sprintf("by %s at %s", p.RequestedBy, stamp(p.RequestedAt)))
	if p.PullRequest != nil {
		row(out, "pull request", p.PullRequest.URL)
	}
	showGates(out, p.Gates)
	for _, other := range p.Siblings {
		row(out, "with it", fmt.Sprintf("promotion %d: %s in %s, %s", other.ID, other.Application, other.Environment, other.State))
	}
	if p.WaitsFor != "" {
		row(out, "now", p.WaitsFor)
	}
}

func showGates(out io.Writer, gates []api.Gate) {
	for _, g := range gates {
		verdict := string(g.Verdict)
		switch {
		case g.Mode == api.GateModeReport:
			verdict += " (report)"
		case g.Override != 0:
			verdict += fmt.Sprintf(" (override %d)", g.Override)
		}
		row(out, g.Name, verdict+": "+g.Reason)
	}
}

func releaseTo(application, version string, number int, id int64, environment string) string {
	return fmt.Sprintf("%s %s (number %d, id %d) to %s", application, version, number, id, environment)
}
