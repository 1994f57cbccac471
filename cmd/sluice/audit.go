package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/internal/audit"
	"github.com/sluicehq/sluice/internal/config"
	"github.com/sluicehq/sluice/internal/postgres"
)

func newAuditCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "audit", Short: "Verify and export the sealed audit"}
	cmd.AddCommand(newAuditVerifyCommand(), newAuditHeadCommand(), newAuditExportCommand())
	return cmd
}

func newAuditVerifyCommand() *cobra.Command {
	var file, output, expected string
	cmd := &cobra.Command{
		Use:   "verify --config FILE [--expect HASH@POSITION]",
		Short: "Find audit events that were altered, removed, reordered or inserted",
		Long: `Find audit events that were altered, removed, reordered or inserted after they were
sealed, and print a line for each.

What this cannot see by itself: who may do everything in the database can remove
the newest events together with their seals, or seal everything anew. So note what
"sluice audit head" prints, or the head that the server logs every hour, where that
person cannot write, and give it here as --expect. Nor can it see events forged by
somebody who may write new ones, or changes before an event was sealed, which is
seconds after it was written. An event inserted under an old id is found.

It reads everything from one snapshot; the servers go on meanwhile.

Exit status: 0 when nothing was found, 1 when something was, 2 when the verification
could not run.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			var expect *audit.Head
			if expected != "" {
				head, err := audit.ParseHead(expected)
				if err != nil {
					return &exitError{Code: 2, Err: fmt.Errorf("--expect: %w", err)}
				}
				expect = &head
			}
			return withAudit(cmd.Context(), file, func(store *postgres.Store) error {
				if output == "json" {
					return verifyAsJSON(cmd.Context(), cmd.OutOrStdout(), store, expect)
				}
				return verifyAsText(cmd.Context(), cmd.OutOrStdout(), store, expect)
			})
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().StringVar(&expected, "expect", "", "HASH@POSITION that the chain must hold, as noted earlier")
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return cmd
}

// withAudit runs fn on the configured database. Whatever keeps it from its work is exit status 2.
func withAudit(ctx context.Context, file string, fn func(*postgres.Store) error) error {
	c, err := config.Read(file)
	if err != nil {
		return &exitError{Code: 2, Err: err}
	}
	pool, err := pgxpool.New(ctx, c.Database.URL)
	if err != nil {
		return &exitError{Code: 2, Err: fmt.Errorf("connect to the database: %w", err)}
	}
	defer pool.Close()
	return fn(postgres.NewStore(pool, nil))
}

func verifyAsText(ctx context.Context, out io.Writer, store *postgres.Store, expect *audit.Head) error {
	l, n := newLines(out), 0
	report, err := store.VerifyAudit(ctx, expect, func(f audit.Finding) {
		n++
		l.printf("%s\n", f)
	})
	if err != nil {
		return &exitError{Code: 2, Err: err}
	}
	if n == 0 {
		l.printf("%d sealed events are as they were sealed; %d are not sealed yet.\nHead: %s\n", report.Head.Position, report.Pending, report.Head)
	}
	return auditStatus(n, l.err)
}

// auditVerification is what `sluice audit verify -o json` prints.
type auditVerification struct {
	Head     string          `json:"head"`
	Pending  int             `json:"pending"`
	Findings []audit.Finding `json:"findings"`
}

func verifyAsJSON(ctx context.Context, out io.Writer, store *postgres.Store, expect *audit.Head) error {
	v := auditVerification{Findings: []audit.Finding{}}
	report, err := store.VerifyAudit(ctx, expect, func(f audit.Finding) { v.Findings = append(v.Findings, f) })
	if err != nil {
		return &exitError{Code: 2, Err: err}
	}
	v.Head, v.Pending = report.Head.String(), report.Pending
	return auditStatus(len(v.Findings), printIndentedJSON(out, v))
}

func auditStatus(findings int, err error) error {
	switch {
	case err != nil:
		return &exitError{Code: 2, Err: err}
	case findings > 0:
		return &exitError{Code: 1}
	}
	return nil
}

func newAuditHeadCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "head --config FILE",
		Short: "Print the newest hash of the audit's chain and its position, to be noted elsewhere",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withAudit(cmd.Context(), file, func(store *postgres.Store) error {
				head, err := store.AuditHead(cmd.Context())
				if err != nil {
					return &exitError{Code: 2, Err: err}
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), head)
				return err
			})
		},
	}
	configFlag(cmd, &file)
	return cmd
}

// parseOptionalTime reads a flag that may be left out.
func parseOptionalTime(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, &exitError{Code: 2, Err: fmt.Errorf("--%s %q is no RFC 3339 time such as 2026-03-28T22:00:00Z", flag, text)}
	}
	return t, nil
}
