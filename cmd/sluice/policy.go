package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/internal/policy"
	"github.com/sluicehq/sluice/internal/promotion"
)

// newPolicyCommand looks at policy files: offline, from a folder alone.
func newPolicyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Check the policy files of a config repository",
	}
	cmd.AddCommand(newPolicyCheckCommand())
	return cmd
}

func newPolicyCheckCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "check REPO",
		Short: "Find what is wrong in sluice.yaml and in the applications' own",
		Long: `Find what is wrong in sluice.yaml, at the root of the folder REPO, and in the
sluice.yaml of each application. Everything that is wrong is reported at once, with
file and line; a server uses none of the files while one of them has a fault.

Exit status: 0 when the files are valid or there are none, 2 when one is not.`,
		Args:          cobra.ExactArgs(1),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			files, err := readPolicies(args[0])
			var faults promotion.PolicyFaults
			if err != nil && !errors.As(err, &faults) {
				return &exitError{Code: 2, Err: err}
			}
			return reportPolicies(cmd.OutOrStdout(), output, files, faults)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return cmd
}

// readPolicies reads the policy files of a folder and nothing outside it.
func readPolicies(repo string) (promotion.PolicyFiles, error) {
	root, err := os.OpenRoot(repo)
	if err != nil {
		return nil, fmt.Errorf("open the repository: %w", err)
	}
	defer root.Close()
	files, err := policy.Reader{}.Collect(root.FS())
	if err != nil {
		return nil, err
	}
	_, err = policy.Reader{}.Parse(files)
	return files, err
}

// policyReport is what `sluice policy check -o json` prints.
type policyReport struct {
	Files  []string      `json:"files"` // none when a fault kept them from being read
	Faults []policyFault `json:"faults"`
}

type policyFault struct {
	File    string `json:"file"`
	Line    int    `json:"line"` // 0 when it is the whole file
	Code    string `json:"code"`
	Message string `json:"message"`
}

func reportPolicies(out io.Writer, output string, files promotion.PolicyFiles, faults promotion.PolicyFaults) error {
	report := policyReport{Files: append([]string{}, slices.Sorted(maps.Keys(files))...), Faults: []policyFault{}}
	for _, f := range faults {
		report.Faults = append(report.Faults, policyFault(f))
	}
	switch {
	case output == "json":
		if err := printIndentedJSON(out, report); err != nil {
			return err
		}
		if len(faults) > 0 {
			return &exitError{Code: 2}
		}
		return nil
	case len(faults) > 0:
		return &exitError{Code: 2, Err: fmt.Errorf("the policy is not valid:\n%w", faults)}
	}
	text := newLines(out)
	if len(files) == 0 {
		text.printf("There is no %s: the defaults hold.\n", policy.File)
	}
	for _, file := range report.Files {
		text.printf("%s is valid\n", file)
	}
	return text.err
}
