package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/client"
)

// held is the exit status of a plan that a gate would hold.
const held = 3

func newPlanCommand() *cobra.Command {
	var r api.PlanRequest
	cmd := &cobra.Command{
		Use:   "plan --application NAME --environment NAME --release ID|VERSION",
		Short: "What every gate would say of a promotion; changes nothing",
		Long: `What every gate would say of a promotion, now or at a later moment, before which
time nothing can go out, and what would change. Nothing is changed.

Exit status: 0 when no gate would hold it, 3 when one would, 1 when the server
refuses, 2 when an argument is wrong.`,
		Example: `  sluice plan --application web --environment prod --release 1.4.2 --at +2h`,
		Args:    arguments(cobra.NoArgs),
	}
	flags := cmd.Flags()
	flags.StringVar(&r.Application, "application", "", "name of the application")
	flags.StringVar(&r.Environment, "environment", "", "name of the environment")
	flags.StringVar((*string)(&r.Release), "release", "", "id or version of the release")
	flags.BoolVar(&r.Hotfix, "hotfix", false, "as a hotfix, past the environments before it")
	flags.Var((*moment)(&r.At), "at", "the moment to judge at, RFC 3339 or from now such as +2h; now when left out")
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (api.Plan, error) {
		if err := needed(cmd, "application", "environment", "release"); err != nil {
			return api.Plan{}, err
		}
		plan, err := c.Plan(cmd.Context(), r)
		if err == nil && plan.Held {
			err = &exitError{Code: held}
		}
		return plan, err
	}, showPlan)
}

func showPlan(out io.Writer, p api.Plan) {
	row(out, "plan", releaseTo(p.Application, p.Version, p.ReleaseNumber, p.Release, p.Environment))
	row(out, "judged at", stamp(p.At))
	showGates(out, p.Gates)
	if p.Earliest == nil {
		row(out, "earliest", "never: no sync window opens")
	} else {
		row(out, "earliest", stamp(*p.Earliest))
	}
	if p.WaitsFor != "" {
		row(out, "waits for", p.WaitsFor)
	}
	showDiff(out, p.Diff)
}

// showDiff writes a diff as it is, line by line.
func showDiff(out io.Writer, diff string) {
	for line := range strings.Lines(diff) {
		_, _ = fmt.Fprintln(out, strings.Map(printable, strings.TrimRight(line, "\r\n"))) // a tabwriter keeps its error for Flush
	}
}
