package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/client"
)

func newDriftAdoptCommand() *cobra.Command {
	var r api.AdoptionRequest
	var plan bool
	cmd := &cobra.Command{
		Use:   "adopt --application NAME --environment NAME [--field ID]... [--plan] [--reason TEXT]",
		Short: "Make Git say what was changed past it in the cluster",
		Long: `Make Git say what was changed past it in the cluster, through a pull request that
passes the same gates as any other: the earlier release that somebody rolled back
to by hand, or the fields that --field names by their id, as sluice drift list
shows them. --plan shows what would change, and changes nothing.`,
		Example: `  sluice drift adopt --application web --environment prod --plan
  sluice drift adopt --application web --environment prod --reason "INC-77: 1.4.2 loses orders"
  sluice drift adopt --application web --environment prod --field 41 --reason "more replicas for the fair"`,
		Args: arguments(cobra.NoArgs),
	}
	targetFlags(cmd, &r.Application, &r.Environment)
	flags := cmd.Flags()
	flags.Int64SliceVar(&r.Fields, "field", nil, "id of an open drift to adopt; may be repeated")
	flags.StringVar(&r.Reason, "reason", "", "why it was changed past Git, for whoever reviews it")
	flags.BoolVar(&plan, "plan", false, "show what would change")
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (any, error) {
		required := []string{"application", "environment", "reason"}
		if plan {
			required = required[:2]
		}
		if err := needed(cmd, required...); err != nil {
			return nil, err
		}
		if plan {
			return c.PlanAdoption(cmd.Context(), r)
		}
		return c.Adopt(cmd.Context(), r)
	}, showAdoption)
}

func showAdoption(out io.Writer, answer any) {
	switch answer := answer.(type) {
	case api.AdoptionPlan:
		row(out, "adopts", answer.Cause)
		if answer.SelfHeal {
			row(out, "warning", "self-heal is on: Argo CD undoes it by itself, maybe before Git says it. See sluice sync-pause")
		}
		showRestorationPlan(out, answer.Plan)
	case api.Promotion:
		showPromotion(out, answer)
	}
}
