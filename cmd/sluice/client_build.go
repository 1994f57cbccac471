package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/client"
)

func newBuildCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "build", Short: "Tell a server what CI built"}
	cmd.AddCommand(newBuildPostCommand())
	return cmd
}

func newBuildPostCommand() *cobra.Command {
	var r api.BuildRequest
	var artifacts, charts, attestations []string
	var migrations, tool string
	cmd := &cobra.Command{
		Use:   "post --version VERSION --artifact REPOSITORY@DIGEST --source-repository URL --source-commit SHA",
		Short: "Record a build; the same build again changes nothing",
		Example: `  sluice build post --application web --version 1.4.2 \
    --artifact registry.example.com/shop/web@sha256:… \
    --source-repository https://git.example.com/shop/web --source-commit $(git rev-parse HEAD) \
    --migrations db/migrations --migrations-tool goose`,
		Args: arguments(cobra.NoArgs),
	}
	flags := cmd.Flags()
	flags.StringVar(&r.Application, "application", "", "application, where several use the images")
	flags.StringVar(&r.Version, "version", "", "version of the build, such as 1.4.2")
	flags.StringArrayVar(&artifacts, "artifact", nil, "image as repository@sha256:…; give the flag once for each image")
	flags.StringArrayVar(&charts, "chart", nil, "version of a chart that the overlays pin, as NAME=VERSION; give the flag once for each chart")
	flags.StringVar(&r.Source.Repository, "source-repository", "", "repository that was built")
	flags.StringVar(&r.Source.Commit, "source-commit", "", "commit that was built")
	flags.StringArrayVar(&r.Source.Authors, "source-author", nil, "who wrote commits that the build brings, by name, login or e-mail address; repeat")
	flags.StringVar(&r.Source.Ref, "source-ref", "", "branch or tag that was built")
	flags.StringVar(&r.Line, "line", "", "line of releases, such as main or 1.4")
	flags.StringVar(&r.Group, "group", "", "name under which several posts complete one release")
	flags.StringSliceVar(&r.Expects, "expects", nil, "images that the group waits for, separated by commas")
	flags.StringVar(&r.CI.Provider, "ci-provider", "", "name of the CI system")
	flags.StringVar(&r.CI.RunURL, "ci-run-url", "", "address of the CI run")
	flags.StringArrayVar(&attestations, "attest", nil, `what earlier releases can go on with, as SUBJECT=compatible:OLDEST-VERSION or SUBJECT=incompatible:WHY;
subjects are data, messages, caches and side-effects`)
	flags.StringVar(&migrations, "migrations", "", "folder of all SQL migrations of the source, also those that were applied long ago")
	flags.StringVar(&tool, "migrations-tool", "", "what runs them: plain, goose, golang-migrate or flyway")
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (_ api.Build, err error) {
		if err := needed(cmd, "version", "source-repository", "source-commit"); err != nil {
			return api.Build{}, err
		}
		if len(charts) == 0 {
			if err := needed(cmd, "artifact"); err != nil {
				return api.Build{}, err
			}
		}
		r.Artifacts = []api.BuildArtifact{}
		for _, a := range artifacts {
			repository, digest, ok := strings.Cut(a, "@")
			if !ok {
				return api.Build{}, wrongUse("--artifact %q has no digest: give it as repository@sha256:…; a tag can point elsewhere tomorrow", a)
			}
			r.Artifacts = append(r.Artifacts, api.BuildArtifact{Repository: repository, Digest: digest})
		}
		for _, c := range charts {
			name, version, ok := strings.Cut(c, "=")
			if !ok {
				return api.Build{}, wrongUse("--chart %q has no version: give it as NAME=VERSION, such as web=1.4.2", c)
			}
			r.Charts = append(r.Charts, api.BuildChart{Name: name, Version: version})
		}
		for _, text := range attestations {
			a, ok := readAttestation(text)
			if !ok {
				return api.Build{}, wrongUse("--attest %q: give it as SUBJECT=compatible:OLDEST-VERSION, such as messages=compatible:1.4.0, or SUBJECT=incompatible:WHY", text)
			}
			r.Attestations = append(r.Attestations, a)
		}
		if r.Migrations, err = readMigrations(migrations, tool); err != nil {
			return api.Build{}, err
		}
		return c.PostBuild(cmd.Context(), r)
	}, showBuild)
}

// readAttestation reads SUBJECT=compatible:OLDEST-VERSION or SUBJECT=incompatible:WHY.
func readAttestation(text string) (a api.BuildAttestation, ok bool) {
	subject, said, ok := strings.Cut(text, "=")
	verdict, more, explained := strings.Cut(said, ":")
	a = api.BuildAttestation{Subject: api.AttestationSubject(subject), Verdict: api.AttestationVerdict(verdict)}
	switch a.Verdict {
	case api.AttestationVerdictCompatible:
		a.Since = more
	case api.AttestationVerdictIncompatible:
		a.Summary = more
	default:
		return a, false
	}
	return a, ok && explained && more != ""
}

func showBuild(out io.Writer, b api.Build) {
	row(out, fmt.Sprintf("build %d", b.ID), b.Version, "commit "+b.Source.Commit)
	for _, r := range b.Releases {
		row(out, fmt.Sprintf("release %d", r.ID), r.Application, fmt.Sprintf("number %d, %s", r.Number, r.Version))
		for _, a := range r.Artifacts {
			note := ""
			if a.CarriedFrom != 0 {
				note = fmt.Sprintf(" (carried forward from release %d)", a.CarriedFrom)
			}
			row(out, "image", a.Name, a.Reference+note)
		}
		for _, c := range r.Charts {
			note := ""
			if c.CarriedFrom != 0 {
				note = fmt.Sprintf(" (carried forward from release %d)", c.CarriedFrom)
			}
			row(out, "chart", c.Name, c.Version+note)
		}
		if r.RebuildOf != 0 {
			row(out, "rebuild", r.Application, fmt.Sprintf("of release %d with other digests: no evidence is inherited", r.RebuildOf))
		}
	}
	for _, p := range b.Promotions {
		row(out, fmt.Sprintf("promotion %d", p.ID), p.Application, p.Environment+": "+string(p.State))
	}
	if len(b.WaitingFor) > 0 {
		row(out, "waits for", strings.Join(b.WaitingFor, ", "), "no release yet")
	}
}
