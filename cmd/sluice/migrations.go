package main

import (
	"fmt"
	"io"
	"os"

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
	var tool, history, output string
	cmd := &cobra.Command{
		Use:   "check --tool TOOL [--history DIR] DIR",
		Short: "Say whether the old version can live with migrations, and whether they can be taken back",
		Long: `Say whether the old version can live with migrations, and whether they can be
taken back.

DIR holds the migrations to judge, as one set: what one file makes, another may
drop. The history is a folder of earlier migrations, applied at the old version
already; types and constraints are read from it. Nothing is run.

TOOL is plain, goose, golang-migrate or flyway.

Exit status: 0 when the files were judged, whatever the verdict; 2 when they or an
argument are not valid.`,
		Args:          cobra.ExactArgs(1),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			result, err := checkMigrations(migration.Tool(tool), args[0], history)
			if err != nil {
				return &exitError{Code: 2, Err: err}
			}
			if output == "json" {
				return printIndentedJSON(cmd.OutOrStdout(), result)
			}
			return printMigrations(cmd.OutOrStdout(), result)
		},
	}
	cmd.Flags().StringVar(&tool, "tool", "", "plain, goose, golang-migrate or flyway")
	cmd.Flags().StringVar(&history, "history", "", "folder of the migrations applied before")
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	if err := cmd.MarkFlagRequired("tool"); err != nil {
		panic(err) // the flag is defined just above
	}
	return cmd
}

func checkMigrations(tool migration.Tool, folder, history string) (migration.Result, error) {
	files, err := migration.ReadFiles(os.DirFS(folder), tool)
	if err != nil {
		return migration.Result{}, fmt.Errorf("%s: %w", folder, err)
	}
	if len(files) == 0 {
		return migration.Result{}, fmt.Errorf("%s holds no migration files of %s", folder, tool)
	}
	var before []migration.File
	if history != "" {
		if before, err = migration.ReadFiles(os.DirFS(history), tool); err != nil {
			return migration.Result{}, fmt.Errorf("%s: %w", history, err)
		}
	}
	return migration.Check(tool, files, before)
}

func printMigrations(out io.Writer, result migration.Result) error {
	lines := newLines(out)
	for _, s := range result.Statements {
		lines.printf("%s:%d: %s: %s, reversible %s (%s)\n", s.File, s.Line, s.Kind, s.Verdict, s.Reversible, s.Reason)
	}
	lines.printf("The set is %s, reversible %s.\n", result.Verdict, result.Reversible)
	return lines.err
}
