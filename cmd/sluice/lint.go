package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/internal/argocd"
	"github.com/sluicehq/sluice/internal/lint"
	"github.com/sluicehq/sluice/internal/manifest"
	"github.com/sluicehq/sluice/internal/policy"
	"github.com/sluicehq/sluice/internal/promotion"
)

// newLintCommand lints a config repository: offline, in a plain folder.
func newLintCommand() *cobra.Command {
	var flags lintFlags
	cmd := &cobra.Command{
		Use:   "lint REPO",
		Short: "Look through a config repository for what goes wrong later",
		Long: `Look through a config repository for what goes wrong later: secrets in plain text,
references to what is not there, settings of Argo CD that undo the care taken
elsewhere. docs/lint.md describes every rule, and how to suppress a finding.

REPO is the repository's root, a plain folder. Only --history needs Git: it looks
at the first-parent history of HEAD for secrets that are gone from the files.

Exit status: 0 without findings, 1 with findings that are not suppressed, 2 when
the lint could not run.`,
		Args:          cobra.ExactArgs(1),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(flags.output); err != nil {
				return err
			}
			findings, err := flags.run(cmd.Context(), args[0])
			if err != nil {
				return &exitError{Code: 2, Err: err}
			}
			if flags.output == "json" {
				err = printIndentedJSON(cmd.OutOrStdout(), append([]lint.Finding{}, findings...))
			} else {
				err = printFindings(cmd.OutOrStdout(), findings)
			}
			if err == nil && len(lint.New(nil, findings)) > 0 {
				return &exitError{Code: 1}
			}
			return err
		},
	}
	cmd.Flags().StringVar(&flags.policy, "policy", "", "policy file to take for the repository's own sluice.yaml")
	cmd.Flags().StringVar(&flags.address, "repo-url", "", "address under which Applications name the repository (default: any, and for ApplicationSets that of origin)")
	cmd.Flags().BoolVar(&flags.history, "history", false, "look for secrets in old commits too")
	cmd.Flags().StringVar(&flags.since, "since", "", "with --history: only in the commits after this one")
	cmd.Flags().StringVarP(&flags.output, "output", "o", "text", "text or json")
	return cmd
}

type lintFlags struct {
	policy, address, since, output string
	history                        bool
}

func (f lintFlags) run(ctx context.Context, repo string) ([]lint.Finding, error) {
	if f.since != "" && !f.history {
		return nil, errors.New("--since says how far --history goes back: give both")
	}
	root, err := os.OpenRoot(repo)
	if err != nil {
		return nil, fmt.Errorf("open the repository: %w", err)
	}
	defer root.Close()
	in := lint.Input{Tree: root.FS(), RepositoryURL: f.address, Now: time.Now}
	if in.Policy, err = f.rules(in.Tree); err != nil {
		return nil, err
	}
	for _, folder := range in.Policy.Layout().Roots {
		targets, err := manifest.Discover(in.Tree, folder)
		if err != nil {
			return nil, err
		}
		in.Targets = append(in.Targets, targets...)
	}
	if in.Applications, err = applicationsIn(in.Tree, cmp.Or(f.address, originOf(repo))); err != nil {
		return nil, err
	}
	if f.history {
		if in.History, err = firstParentHistory(repo, f.since); err != nil {
			return nil, err
		}
	}
	return lint.Run(ctx, in)
}

// rules are the policy that the targets are held to.
func (f lintFlags) rules(tree fs.FS) (promotion.Rules, error) {
	files, err := policy.Reader{}.Collect(tree)
	if err != nil {
		return nil, fmt.Errorf("read the policy: %w", err)
	}
	if f.policy != "" {
		text, err := os.ReadFile(f.policy)
		if err != nil {
			return nil, fmt.Errorf("read the policy: %w", err)
		}
		files[policy.File] = string(text)
	}
	rules, err := policy.Reader{}.Parse(files)
	if err != nil {
		return nil, fmt.Errorf("read the policy: %w", err)
	}
	return rules, nil
}

// applicationsIn are the Applications that stand in the repository, and those
// that its ApplicationSets make as far as that is known without a cluster.
func applicationsIn(tree fs.FS, address string) ([]argocd.Application, error) {
	found, err := argocd.Read(tree)
	if err != nil {
		return nil, err
	}
	expanded, err := argocd.Expand(tree, found.ApplicationSets, argocd.Known{RepositoryURL: address})
	return append(found.Applications, expanded.Applications...), err
}

// originOf is the address that a repository was cloned from; empty when that is
// not known.
func originOf(repo string) string {
	r, err := git.PlainOpenWithOptions(repo, &git.PlainOpenOptions{EnableDotGitCommonDir: true})
	if err != nil {
		return ""
	}
	origin, err := r.Remote(git.DefaultRemoteName)
	if err != nil || len(origin.Config().URLs) == 0 {
		return ""
	}
	return origin.Config().URLs[0]
}

func printFindings(out io.Writer, findings []lint.Finding) error {
	l := newLines(out)
	count := map[lint.Level]int{}
	suppressed := 0
	for _, f := range findings {
		if f.Suppressed {
			suppressed++
			continue
		}
		count[f.Level]++
		l.printf("%s\n", f)
		if f.Object != "" {
			l.printf("    in: %s\n", f.Object)
		}
		for _, target := range f.Targets {
			l.printf("    seen by: %s\n", target)
		}
		if c := f.Commit; c != nil {
			l.printf("    since: commit %.12s by %s on %s\n", c.Hash, c.Author, c.When.Format(time.DateOnly))
		}
		l.printf("    why: %s\n    mend: %s\n\n", f.Why, f.Mend)
	}
	l.printf("%d errors, %d warnings, %d suppressed\n", count[lint.Error], count[lint.Warning], suppressed)
	return l.err
}
