package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/client"
)

func newEvidenceCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "evidence", Short: "Tell a server what a verification of a release found"}
	cmd.AddCommand(newEvidencePostCommand())
	return cmd
}

func newEvidencePostCommand() *cobra.Command {
	var r api.EvidenceRequest
	cmd := &cobra.Command{
		Use:   "post --name NAME --verdict pass|fail {--application NAME --release ID|VERSION | --digest DIGEST}",
		Short: "Record the result of a verification; of one name, environment and source the newest counts",
		Example: `  sluice evidence post --application web --release 1.4.2 --environment staging \
    --name integration-tests --verdict pass --url https://ci.example.com/runs/88`,
		Args: arguments(cobra.NoArgs),
	}
	flags := cmd.Flags()
	flags.StringVar(&r.Application, "application", "", "name of the application")
	flags.StringVar((*string)(&r.Release), "release", "", "id or version of the release")
	flags.StringVar(&r.Digest, "digest", "", "digest of an image, for every release that has it")
	flags.StringVar(&r.Environment, "environment", "", "where it was found; none for what is true of the artifacts anywhere")
	flags.StringVar(&r.Name, "name", "", "what was verified, such as integration-tests")
	flags.StringVar((*string)(&r.Verdict), "verdict", "", "pass or fail")
	flags.StringVar(&r.Source, "source", "", "who found it, such as a CI job; whoever the token belongs to when left out")
	flags.StringVar(&r.URL, "url", "", "where to read more")
	flags.StringVar(&r.Summary, "summary", "", "one line about the result")
	flags.Var((*moment)(&r.ExpiresAt), "expires", "until when it counts, RFC 3339 or from now such as +24h; for ever when left out")
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (api.Evidence, error) {
		if (r.Release == "") == (r.Digest == "") {
			return api.Evidence{}, wrongUse("say which release: give --application and --release, or --digest")
		}
		if r.Release != "" {
			if err := needed(cmd, "application"); err != nil {
				return api.Evidence{}, err
			}
		}
		if err := needed(cmd, "name", "verdict"); err != nil {
			return api.Evidence{}, err
		}
		return c.PostEvidence(cmd.Context(), r)
	}, showEvidence)
}

func showEvidence(out io.Writer, e api.Evidence) {
	row(out, fmt.Sprintf("evidence %d", e.ID), fmt.Sprintf("%s: %s, by %s", e.Name, e.Verdict, e.Source))
	row(out, "release", fmt.Sprint(e.Release))
	if e.Environment != "" {
		row(out, "environment", e.Environment)
	}
	if !e.ExpiresAt.IsZero() {
		row(out, "expires", stamp(e.ExpiresAt))
	}
}
