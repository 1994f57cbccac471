package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/client"
)

func newAttestCommand() *cobra.Command {
	var r api.AttestationRequest
	var expires moment
	cmd := &cobra.Command{
		Use: "attest --application NAME --from RELEASE --to RELEASE --subject data|messages|caches|side-effects\n" +
			"  --verdict compatible|incompatible --reason TEXT --expires TIME",
		Short: "Sign off whether an earlier release can go on with what a newer one has left behind",
		Long: `Sign off whether an earlier release can go on with what a newer one has left behind.

It counts for that pair of releases until it expires, or until somebody signs the same again. It takes back nothing that a build was posted
with as incompatible, and does not count for a promotion that you asked for. CI says it of every release: sluice build post --attest.`,
		Example: `  sluice attest --application web --from 1.4.2 --to 1.4.1 --subject messages --verdict compatible \
    --reason 'the schema of orders.v1 is the same' --expires +168h`,
		Args: arguments(cobra.NoArgs),
	}
	flags := cmd.Flags()
	flags.StringVar(&r.Application, "application", "", "name of the application")
	flags.StringVar(&r.From, "from", "", "id or version of the release that leaves it behind")
	flags.StringVar(&r.To, "to", "", "id or version of the release to go back to")
	flags.StringVar((*string)(&r.Subject), "subject", "", "what is left behind: data, messages, caches or side-effects")
	flags.StringVar((*string)(&r.Verdict), "verdict", "", "compatible or incompatible")
	flags.StringVar(&r.Reason, "reason", "", "how it is known")
	flags.Var(&expires, "expires", "until when it counts, RFC 3339 or from now such as +168h; at most 90 days")
	cmd.AddCommand(newAttestListCommand())
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (api.Attestation, error) {
		if err := needed(cmd, "application", "from", "to", "subject", "verdict", "reason", "expires"); err != nil {
			return api.Attestation{}, err
		}
		if !r.Subject.Valid() {
			return api.Attestation{}, wrongUse("--subject %q: give data, messages, caches or side-effects", r.Subject)
		}
		if !r.Verdict.Valid() {
			return api.Attestation{}, wrongUse("--verdict %q: give compatible or incompatible", r.Verdict)
		}
		r.ExpiresAt = expires.Time
		return c.Attest(cmd.Context(), r)
	}, showAttestation)
}

func newAttestListCommand() *cobra.Command {
	var application string
	cmd := &cobra.Command{Use: "list --application NAME", Short: "List what was posted with builds and what people signed off, newest first",
		Args: arguments(cobra.NoArgs)}
	cmd.Flags().StringVar(&application, "application", "", "name of the application")
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (api.AttestationList, error) {
		if err := needed(cmd, "application"); err != nil {
			return api.AttestationList{}, err
		}
		return c.Attestations(cmd.Context(), application)
	}, showAttestations)
}

func showAttestation(out io.Writer, a api.Attestation) {
	row(out, fmt.Sprintf("attestation %d", a.ID), fmt.Sprintf("%s: %s, by %s", a.Subject, a.Verdict, a.AttestedBy))
	row(out, "from", a.FromVersion)
	row(out, "to", a.ToVersion)
	row(out, "expires", stamp(a.ExpiresAt))
}

func showAttestations(out io.Writer, list api.AttestationList) {
	row(out, "ID", "SUBJECT", "VERDICT", "FROM", "TO", "BY", "AT", "EXPIRES", "REASON")
	for _, a := range list.Items {
		to, expires := a.ToVersion, ""
		if a.Since != "" {
			to = a.Since + " and later"
		}
		if to == "" {
			to = "every earlier one"
		}
		if !a.ExpiresAt.IsZero() {
			expires = stamp(a.ExpiresAt)
		}
		row(out, fmt.Sprint(a.ID), string(a.Subject), string(a.Verdict), a.FromVersion, to, a.AttestedBy, stamp(a.AttestedAt), expires, a.Reason)
	}
}
