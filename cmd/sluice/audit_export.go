package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/internal/audit"
	"github.com/sluicehq/sluice/internal/postgres"
)

func newAuditExportCommand() *cobra.Command {
	var file, since, until, output string
	var which postgres.AuditSelection
	cmd := &cobra.Command{
		Use:   "export --config FILE [--since TIME] [--until TIME] [--application NAME]",
		Short: "Print audit events as JSON Lines, with their place in the chain",
		Long: `Print audit events as JSON Lines, in order of id, from one snapshot of the database.

Position and hash are null for an event that is not sealed yet; before and after are
left out where there is none. Times are RFC 3339 in UTC with microseconds; --since
includes its moment and --until does not. An export without a selection holds all that
the hashes are made of, so that the chain can be checked from it alone, in order of
position.

Exit status: 0, or 2 when the export could not run or was cut short.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if output != "jsonl" {
				return &exitError{Code: 2, Err: fmt.Errorf("--output %q must be jsonl", output)}
			}
			if which.Since, err = parseOptionalTime("since", since); err != nil {
				return err
			}
			if which.Until, err = parseOptionalTime("until", until); err != nil {
				return err
			}
			return withAudit(cmd.Context(), file, func(store *postgres.Store) error {
				out := bufio.NewWriter(cmd.OutOrStdout())
				err := store.ExportAudit(cmd.Context(), which, func(e audit.Entry) error { return printEntry(out, e) })
				if err == nil {
					err = out.Flush()
				}
				if err != nil {
					return &exitError{Code: 2, Err: err}
				}
				return nil
			})
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().StringVar(&since, "since", "", "from this time on, RFC 3339")
	cmd.Flags().StringVar(&until, "until", "", "before this time, RFC 3339")
	cmd.Flags().StringVar(&which.Application, "application", "", "of this application only")
	cmd.Flags().StringVarP(&output, "output", "o", "jsonl", "jsonl")
	return cmd
}

// exportedEvent is a line of `sluice audit export`: the columns' names, in the order of the hash.
type exportedEvent struct {
	Position      *int64          `json:"position"`
	Hash          *string         `json:"hash"`
	ID            int64           `json:"id"`
	Tx            uint64          `json:"tx"`
	At            string          `json:"at"`
	Actor         string          `json:"actor"`
	ActorKind     string          `json:"actor_kind"`
	Action        string          `json:"action"`
	Object        string          `json:"object"`
	Application   string          `json:"application"`
	Environment   string          `json:"environment"`
	ReleaseID     *int64          `json:"release_id"`
	PromotionID   *int64          `json:"promotion_id"`
	Message       string          `json:"message"`
	Before        json.RawMessage `json:"before,omitempty"`
	After         json.RawMessage `json:"after,omitempty"`
	RequestID     string          `json:"request_id"`
	SourceAddress string          `json:"source_address"`
	Horizon       *uint64         `json:"horizon"`
	SealedAt      *string         `json:"sealed_at"`
}

func printEntry(out io.Writer, entry audit.Entry) error {
	e := entry.Event
	line := exportedEvent{ID: e.ID, Tx: e.Tx, At: auditTime(e.At), Actor: e.Actor, ActorKind: e.ActorKind, Action: e.Action, Object: e.Object,
		Application: e.Application, Environment: e.Environment, ReleaseID: e.ReleaseID, PromotionID: e.PromotionID, Message: e.Message,
		Before: e.Before, After: e.After, RequestID: e.RequestID, SourceAddress: e.SourceAddress}
	if entry.Position != 0 {
		hash, at := entry.Hash.String(), auditTime(entry.Seal.At)
		line.Position, line.Hash, line.Horizon, line.SealedAt = &entry.Position, &hash, &entry.Horizon, &at
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(line)
}

func auditTime(t time.Time) string { return t.UTC().Format(audit.TimeFormat) }
