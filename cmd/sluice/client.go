package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/internal/client"
)

// clientFlags are the flags of every command that talks to a server.
type clientFlags struct {
	server, token, tokenFile, output string
}

// newClientCommand makes a command that asks a server with ask and shows the answer, as JSON or with show. An answer that
// comes with a mere exit status is shown too.
func newClientCommand[T any](cmd *cobra.Command, ask func(*cobra.Command, *client.Client, []string) (T, error), show func(io.Writer, T)) *cobra.Command {
	var f clientFlags
	flags := cmd.Flags()
	flags.StringVar(&f.server, "server", envOr("SLUICE_SERVER", "http://127.0.0.1:8080"), "address of the Sluice server (env SLUICE_SERVER)")
	flags.StringVar(&f.token, "token", "", "API token (env SLUICE_TOKEN; others can see a command line)")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the API token")
	flags.StringVarP(&f.output, "output", "o", "text", "text or json")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return wrongUse("%w", err) })
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkOutput(f.output); err != nil {
			return err
		}
		c, err := f.client()
		if err != nil {
			return err
		}
		answer, err := ask(cmd, c, args)
		if err != nil && err.Error() != "" {
			return err
		}
		return cmp.Or(f.print(cmd.OutOrStdout(), answer, func(out io.Writer) { show(out, answer) }), err)
	}
	return cmd
}

func (f clientFlags) print(out io.Writer, answer any, show func(io.Writer)) error {
	if f.output == "json" {
		return printIndentedJSON(out, answer)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	show(table)
	return table.Flush()
}

func (f clientFlags) client() (*client.Client, error) {
	token := f.token
	switch {
	case token != "" && f.tokenFile != "":
		return nil, wrongUse("give --token or --token-file, not both")
	case f.tokenFile != "":
		data, err := os.ReadFile(f.tokenFile)
		if err != nil {
			return nil, wrongUse("read the token: %w", err)
		}
		token = strings.TrimSpace(string(data))
	case token == "":
		token = os.Getenv("SLUICE_TOKEN")
	}
	c, err := client.New(f.server, token)
	if err != nil {
		return nil, wrongUse("%w", err)
	}
	return c, nil
}

func envOr(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

// wrongUse is a command that was not given what it needs: exit status 2.
func wrongUse(format string, args ...any) error {
	return &exitError{Code: 2, Err: fmt.Errorf(format, args...)}
}

// needed refuses when one of the flags has no value.
func needed(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if flag := cmd.Flags().Lookup(name); flag.Value.String() == "" || flag.Value.String() == "[]" {
			return wrongUse("--%s is missing: %s", name, flag.Usage)
		}
	}
	return nil
}

// numbered reads the id of a thing, given as the only argument.
func numbered(what string, args []string) (int64, error) {
	id, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil {
		return 0, wrongUse("%s %q: give its id, a whole number", what, args[0])
	}
	return id, nil
}

// ended is shown for what the server ends without an answer.
type ended struct {
	ID   int64 `json:"id"`
	what string
}

func showEnded(out io.Writer, e ended) { row(out, fmt.Sprintf(e.what, e.ID)) }

// arguments checks how many arguments are given.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return wrongUse("%w; usage: %s", err, cmd.UseLine())
		}
		return nil
	}
}

// row writes one line of a table. Empty cells are shown as a dash, and control characters,
// which could move a terminal's cursor, as spaces.
func row(out io.Writer, cells ...string) {
	for i, cell := range cells {
		cells[i] = strings.Map(printable, cell)
		if cell == "" {
			cells[i] = "-"
		}
	}
	_, _ = fmt.Fprintln(out, strings.Join(cells, "\t")) // a tabwriter keeps its error for Flush
}

func printable(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}
