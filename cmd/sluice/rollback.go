package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/internal/rollback"
)

// newRollbackCommand judges rollbacks: by asking a server, or offline from stored facts alone.
func newRollbackCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rollback",
		Short: "Judge whether a target can go back to an older release, and go back",
	}
	cmd.AddCommand(newRollbackEvaluateCommand(), newRollbackCheckCommand(), newRollbackStartCommand())
	return cmd
}

func newRollbackEvaluateCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "evaluate FACTS.json",
		Short: "Give the rollback verdict that stored facts add up to",
		Long: `Give the rollback verdict that stored facts add up to.

FACTS.json holds the facts as Sluice has stored them. A fact that could not be read
makes a check unknown, never yes.

Exit status: 0 when a verdict was given, whatever it says; 2 when the file or an
argument is not valid.`,
		Args:          cobra.ExactArgs(1),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			data, err := os.ReadFile(args[0])
			if err != nil {
				return &exitError{Code: 2, Err: fmt.Errorf("read the facts: %w", err)}
			}
			facts, err := rollback.Parse(data)
			if err != nil {
				return &exitError{Code: 2, Err: fmt.Errorf("%s is not valid:\n%w", args[0], err)}
			}
			verdict := rollback.Evaluate(facts)
			if output == "json" {
				return printIndentedJSON(cmd.OutOrStdout(), verdict)
			}
			return printVerdict(cmd.OutOrStdout(), verdict)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return cmd
}

func printVerdict(out io.Writer, v rollback.Verdict) error {
	lines := newLines(out)
	lines.printf("Rollback is %s, gate %s.\n", v.Overall, v.Gate)
	for _, p := range v.Predicates.All() {
		value := string(p.Value)
		switch p.Mode {
		case rollback.ModeOff:
			value = "off by policy"
		case rollback.ModeReport:
			value += " (reported only)"
		}
		lines.printf("%-22s %s\n", p.Name, value)
		for _, reason := range p.Reasons {
			lines.printf("  %s (%s)\n", rollback.Explain(reason), reason)
		}
	}
	for _, refused := range v.RefusedAcceptances {
		lines.printf("Not accepted: %s\n", rollback.Explain(refused))
	}
	if len(v.Blocking) > 0 {
		lines.printf("Blocking: %s\n", strings.Join(v.Blocking, ", "))
	}
	return lines.err
}
