package main

import (
	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/client"
)

func newRollbackStartCommand() *cobra.Command {
	var r api.RollbackRequest
	var way string
	var plan bool
	cmd := &cobra.Command{
		Use:   "start --application NAME --environment NAME {--to ID|VERSION [--way WAY] | --way revert --promotion ID} {--plan | --reason TEXT}",
		Short: "Go back to a release that was verified in the target",
		Long: `Go back to a release that was verified in the target, through a pull request of
kind rollback. By images it takes that release's digests with today's
configuration; by images-and-config the configuration as it was too. By revert exactly
what one promotion changed is undone on today's main; where those lines were changed
since, nothing is, and file and line are named. It takes the
place of what is open for the target, and holds the target afterwards until somebody
resumes it. --plan shows what would change, and changes nothing.`,
		Example: `  sluice rollback start --application web --environment prod --to 1.4.1 --plan
  sluice rollback start --application web --environment prod --to 1.4.1 --reason "1.4.2 loses orders"`,
		Args: arguments(cobra.NoArgs),
	}
	flags := cmd.Flags()
	flags.StringVar(&r.Application, "application", "", "name of the application")
	flags.StringVar(&r.Environment, "environment", "", "name of the environment")
	flags.StringVar(&r.To, "to", "", "id or version of the release to go back to")
	flags.StringVar(&way, "way", string(api.RollbackRequestWayImages), "images, images-and-config or revert")
	flags.Int64Var(&r.Promotion, "promotion", 0, "with --way revert: the promotion whose change is undone")
	flags.BoolVar(&r.Base, "base", false, "with the configuration: also what the application's other environments share; they change too")
	flags.BoolVar(&r.Secrets, "secrets", false, "with the configuration: also files with secrets; otherwise today's stay")
	flags.StringVar(&r.Reason, "reason", "", "why, for whoever reviews it")
	flags.BoolVar(&plan, "plan", false, "show what would change")
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (any, error) {
		required := []string{"application", "environment", "to", "reason"}
		if way == string(api.RollbackRequestWayRevert) {
			required[2] = "promotion"
		}
		if plan {
			required = required[:3]
		}
		if err := needed(cmd, required...); err != nil {
			return nil, err
		}
		r.Way = api.RollbackRequestWay(way)
		if plan {
			return c.PlanRollback(cmd.Context(), r)
		}
		return c.StartRollback(cmd.Context(), r)
	}, showRestore)
}
