package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/internal/migration"
)

// newMigrationsCommand judges SQL migrations: offline, from the files alone.
func newMigrationsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrations",
		Short: "Judge SQL migrations",
	}
	cmd.AddCommand(newMigrationsCheckCommand())
	return cmd
}

func newMigrationsCheckCommand() *cobra.Command {
	var asked migrationsAsked
	var output, failOn string
	cmd := &cobra.Command{
		Use:   "check --tool TOOL [--history DIR] [--since VERSION] [--fail-on VERDICT] DIR",
		Short: "Say whether the old version can live with migrations, and whether they can be taken back",
		Long: `Say whether the old version can live with migrations, and whether they can be
taken back.

DIR holds the migrations to judge, as one set: what one file makes, another may
drop. The history is a folder of earlier migrations, applied at the old version
already; types and constraints are read from it. Nothing is run.

Where one folder holds all migrations, --since names the last one that the old
version has: those up to it are the history, and those after it are judged. It is
a number, a version of Flyway or a file's name.

Before a merge, --fail-on breaking ends with status 3 when the old version could
not go on, and --fail-on unknown also when a person must say.

TOOL is plain, goose, golang-migrate or flyway.

Exit status: 0 when the files were judged, whatever the verdict if --fail-on is not
given; 2 when they or an argument are not valid; 3 as --fail-on says.`,
		Args:          cobra.ExactArgs(1),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			if !slices.Contains([]string{"", string(migration.Breaking), string(migration.Unknown)}, failOn) {
				return wrongUse("--fail-on %q: give breaking or unknown", failOn)
			}
			asked.folder = args[0]
			result, err := checkMigrations(asked)
			if err != nil {
				return &exitError{Code: 2, Err: err}
			}
			if output == "json" {
				err = printIndentedJSON(cmd.OutOrStdout(), result)
			} else {
				err = printMigrations(cmd.OutOrStdout(), result)
			}
			return cmp.Or(err, failing(result.Verdict, failOn))
		},
	}
	cmd.Flags().StringVar(&asked.tool, "tool", "", "plain, goose, golang-migrate or flyway")
	cmd.Flags().StringVar(&asked.history, "history", "", "folder of the migrations applied before")
	cmd.Flags().StringVar(&asked.since, "since", "", "the last migration of DIR that is applied already")
	cmd.Flags().StringVar(&failOn, "fail-on", "", "verdict from which on the status is 3: breaking or unknown")
	cmd.MarkFlagsMutuallyExclusive("history", "since")
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	if err := cmd.MarkFlagRequired("tool"); err != nil {
		panic(err) // the flag is defined just above
	}
	return cmd
}

// migrationsAsked is which migrations are to be judged.
type migrationsAsked struct {
	tool, folder, history, since string
}

func checkMigrations(asked migrationsAsked) (migration.Result, error) {
	tool := migration.Tool(asked.tool)
	files, err := migration.ReadFiles(os.DirFS(asked.folder), tool)
	if err != nil {
		return migration.Result{}, fmt.Errorf("%s: %w", asked.folder, err)
	}
	if len(files) == 0 {
		return migration.Result{}, fmt.Errorf("%s holds no migration files of %s", asked.folder, tool)
	}
	var before []migration.File
	switch {
	case asked.since != "":
		if files, before, err = migration.Since(tool, files, asked.since); err != nil {
			return migration.Result{}, fmt.Errorf("%s: %w", asked.folder, err)
		}
	case asked.history != "":
		if before, err = migration.ReadFiles(os.DirFS(asked.history), tool); err != nil {
			return migration.Result{}, fmt.Errorf("%s: %w", asked.history, err)
		}
	}
	return migration.Check(tool, files, before)
}

// failing is status 3, said by the verdict that was printed, when it is as bad as what must not be merged.
func failing(verdict migration.Verdict, failOn string) error {
	if failOn != "" && (verdict == migration.Breaking || string(verdict) == failOn) {
		return &exitError{Code: 3}
	}
	return nil
}

func printMigrations(out io.Writer, result migration.Result) error {
	lines := newLines(out)
	for _, s := range result.Statements {
		lines.printf("%s:%d: %s: %s, reversible %s (%s)\n", s.File, s.Line, s.Kind, s.Verdict, s.Reversible, s.Reason)
	}
	lines.printf("The set is %s, reversible %s.\n", result.Verdict, result.Reversible)
	return lines.err
}
