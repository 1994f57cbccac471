package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/client"
)

func newRollbackCheckCommand() *cobra.Command {
	var application, environment, to string
	cmd := &cobra.Command{
		Use:   "check --application NAME --environment NAME [--to ID|VERSION]",
		Short: "What a target can go back to, with the five checks of each candidate",
		Long: `What a target can go back to: the releases that were verified there, the one verified
last first, each by its images alone, with its configuration too, and by undoing
exactly the promotion that replaced it; where later changes are in the way of that,
file and line are named. What could not be read is unknown, never yes. Nothing is
changed.

Exit status: 0 when there is a candidate that may be gone back to, 3 when there is
none, 1 when the server refuses, 2 when an argument is wrong.`,
		Example: `  sluice rollback check --application web --environment prod --to 1.4.1 -o json`,
		Args:    arguments(cobra.NoArgs),
	}
	flags := cmd.Flags()
	flags.StringVar(&application, "application", "", "name of the application")
	flags.StringVar(&environment, "environment", "", "name of the environment")
	flags.StringVar(&to, "to", "", "id or version of the one release to look at; all that were verified there when left out")
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (api.RollbackCheck, error) {
		if err := needed(cmd, "application", "environment"); err != nil {
			return api.RollbackCheck{}, err
		}
		check, err := c.CheckRollback(cmd.Context(), application, environment, to)
		if err == nil && check.Recommended.ID == 0 {
			err = &exitError{Code: held}
		}
		return check, err
	}, showRollbackCheck)
}

// checkCell is the value, and that it is only reported.
func checkCell(c api.RollbackPredicate) string {
	if c.Mode == api.RollbackPredicateModeReport {
		return string(c.Value) + " (reported)"
	}
	return string(c.Value)
}

// verdictsOf are a candidate's verdicts, one for each way that there is.
func verdictsOf(c api.RollbackCandidate) []api.RollbackVerdict {
	if c.Revert.Problem != "" {
		return []api.RollbackVerdict{c.Images, c.ImagesAndConfig}
	}
	return []api.RollbackVerdict{c.Images, c.ImagesAndConfig, c.Revert.Verdict}
}

func showRollbackCheck(out io.Writer, c api.RollbackCheck) {
	row(out, "runs", c.Current.Version)
	row(out, "RELEASE", "WITH", "VERDICT", "GATE", "ARTIFACT", "CONFIG", "DATA", "TRAFFIC", "DEPENDENCY")
	for _, candidate := range c.Candidates {
		for _, v := range verdictsOf(candidate) {
			cells := []string{candidate.Release.Version, string(v.Way), string(v.Overall), string(v.Gate)}
			for _, check := range v.Checks {
				cells = append(cells, checkCell(check))
			}
			row(out, cells...)
		}
	}
	for _, candidate := range c.Candidates {
		for _, reason := range candidate.Images.Blocking {
			row(out, candidate.Release.Version, reason.Text)
		}
		for _, why := range append(candidate.Images.Unread, candidate.Images.Notes...) {
			row(out, candidate.Release.Version, why)
		}
		if problem := candidate.Revert.Problem; problem != "" {
			row(out, candidate.Release.Version, "no way by revert: "+problem)
		}
	}
	if c.Recommended.ID != 0 {
		row(out, "recommended", c.Recommended.Version)
	}
	if c.PointOfNoReturn.ID != 0 {
		row(out, "no return to", c.PointOfNoReturn.Version+" and what was before it: the database bars it")
	}
}
