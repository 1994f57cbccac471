package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/internal/config"
	"github.com/sluicehq/sluice/internal/prhost/github"
)

// newSetupCommand sees to what the hosts of config repositories need for Sluice.
func newSetupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "See to what a config repository's host needs: webhook, required status, protection",
	}
	cmd.AddCommand(newSetupGitHubCommand())
	return cmd
}

func newSetupGitHubCommand() *cobra.Command {
	var file, repository string
	var apply bool
	cmd := &cobra.Command{
		Use:   "github",
		Short: "Print, and with --apply make, what config repositories on GitHub need",
		Long: `Print what the config repositories on GitHub need to be gated by Sluice: the
permissions of its App, the webhook, and the protection of the base branch, which
requires the status sluice/gates from Sluice's App and exempts nobody.

With --apply what is missing is made: the webhook, and a ruleset named sluice. What is
there already stays as it is, and running it again changes nothing.

Exit status: 0 when nothing is missing, 1 when something is or could not be made, 2 when
the configuration is wrong.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.Read(file)
			if err != nil {
				return &exitError{Code: 2, Err: err}
			}
			return setUpGitHub(cmd.Context(), cmd.OutOrStdout(), c, repository, apply)
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().StringVar(&repository, "repository", "", "the name of one config repository; all on GitHub when not given")
	cmd.Flags().BoolVar(&apply, "apply", false, "make what is missing")
	return cmd
}

func setUpGitHub(ctx context.Context, out io.Writer, c config.Config, only string, apply bool) error {
	webhook, secret, err := gitHubDoor(c)
	if err != nil {
		return &exitError{Code: 2, Err: err}
	}
	found, complete := false, true
	for _, r := range c.Repositories {
		if r.Host != config.HostGitHub || only != "" && r.Name != only {
			continue
		}
		found = true
		host, app, err := openGitHub(*r.GitHub)
		if err != nil {
			return &exitError{Code: 2, Err: fmt.Errorf("config repository %s: %w", r.Name, err)}
		}
		fmt.Fprintf(out, "%s: %s/%s on GitHub\n", r.Name, r.GitHub.Owner, r.GitHub.Repository)
		for _, step := range host.Setup(ctx, github.Wanted{WebhookURL: webhook, WebhookSecret: secret, App: app}, apply) {
			complete = printStep(out, step) && complete
		}
		if webhook == "" {
			fmt.Fprintln(out, "  advice   webhook: the configuration has no secret for github below webhooks; changes are found by looking every half minute")
		}
	}
	switch {
	case !found && only != "":
		return &exitError{Code: 2, Err: fmt.Errorf("the configuration has no config repository %q on GitHub", only)}
	case !found:
		return &exitError{Code: 2, Err: fmt.Errorf("the configuration has no config repository on GitHub")}
	case !complete:
		return &exitError{Code: 1}
	}
	return nil
}

// gitHubDoor is where GitHub's webhooks are received, and the secret that signs them: the first, while two are valid.
func gitHubDoor(c config.Config) (url, secret string, err error) {
	for _, w := range c.Webhooks {
		if w.Host != config.HostGitHub {
			continue
		}
		secrets, err := w.Secrets()
		if err != nil {
			return "", "", err
		}
		return c.PublicURL + "/webhooks/" + config.HostGitHub, secrets[0], nil
	}
	return "", "", nil
}

// openGitHub makes a repository's host, and the App that Sluice acts as there; nil with a token.
func openGitHub(at config.Hosted) (*github.Host, *github.App, error) {
	o := github.Options{Owner: at.Owner, Repository: at.Repository, BaseBranch: at.Branch, BaseURL: at.Server,
		MergeMethod: github.MergeMethod(at.MergeMethod), AppID: at.AppID,
		Token: func(context.Context) (string, error) { return at.Token() }}
	var app *github.App
	if at.AppID != 0 {
		key, err := at.PrivateKey()
		if err != nil {
			return nil, nil, err
		}
		app, err = github.NewApp(github.AppOptions{ID: at.AppID, PrivateKey: key, InstallationID: at.InstallationID,
			Owner: at.Owner, Repository: at.Repository, BaseURL: at.Server})
		if err != nil {
			return nil, nil, err
		}
		o.Token, o.Refused = app.Token, app.Refused
	}
	h, err := github.New(o)
	return h, app, err
}

// printStep prints one line for each thing that is missing, and tells whether nothing is.
func printStep(out io.Writer, s github.Step) bool {
	line := func(word, text string) { fmt.Fprintf(out, "  %-8s %s\n", word, strings.ReplaceAll(text, "\n", " ")) }
	if s.Made {
		line("made", s.Need)
	}
	for _, missing := range s.Missing {
		line("missing", s.Need+": "+missing)
	}
	switch {
	case s.Err != nil:
		line("failed", s.Need+": "+s.Err.Error())
	case s.Advice != "":
		line("advice", s.Need+": "+s.Advice)
	case len(s.Missing) == 0 && !s.Made:
		line("ok", s.Need)
	}
	return s.Err == nil && len(s.Missing) == 0
}
