package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/client"
)

func newRestoreCommand() *cobra.Command {
	var r api.RestorationRequest
	var list, plan bool
	cmd := &cobra.Command{
		Use:   "restore --application NAME --environment NAME {--list | --commit SHA [--plan] [--reason TEXT]}",
		Short: "Set a target's configuration back to what it was at a commit",
		Long: `Set a target's configuration back to what it was at a commit of main, through a
pull request that passes the same gates as any other. --list shows the commits to
choose from, --plan what would change; neither changes anything.`,
		Example: `  sluice restore --application web --environment prod --list
  sluice restore --application web --environment prod --commit 9f8e7d6c5b4a39281706f5e4d3c2b1a098765432 --plan`,
		Args: arguments(cobra.NoArgs),
	}
	flags := cmd.Flags()
	flags.StringVar(&r.Application, "application", "", "name of the application")
	flags.StringVar(&r.Environment, "environment", "", "name of the environment")
	flags.StringVar(&r.Commit, "commit", "", "commit of main that changed this target, its whole hash")
	flags.BoolVar(&r.Base, "base", false, "also what the application's other environments share: they change too")
	flags.BoolVar(&r.Secrets, "secrets", false, "also files with secrets; otherwise today's stay")
	flags.BoolVar(&r.ImagesOfToday, "images-of-today", false, "run today's images with the configuration of then")
	flags.StringVar(&r.Reason, "reason", "", "why, for whoever reviews it")
	flags.BoolVar(&list, "list", false, "list the commits to choose from")
	flags.BoolVar(&plan, "plan", false, "show what would change")
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (any, error) {
		required := []string{"application", "environment", "commit", "reason"}
		switch {
		case list && plan:
			return nil, wrongUse("give --list or --plan, not both")
		case list:
			required = required[:2]
		case plan:
			required = required[:3]
		}
		if err := needed(cmd, required...); err != nil {
			return nil, err
		}
		switch {
		case list:
			return c.Revisions(cmd.Context(), r.Application, r.Environment)
		case plan:
			return c.PlanRestoration(cmd.Context(), r)
		}
		return c.Restore(cmd.Context(), r)
	}, showRestore)
}

func showRestore(out io.Writer, answer any) {
	switch answer := answer.(type) {
	case api.RevisionList:
		showRevisions(out, answer)
	case api.RestorationPlan:
		showRestorationPlan(out, answer)
	case api.Promotion:
		showPromotion(out, answer)
	}
}

func showRevisions(out io.Writer, list api.RevisionList) {
	row(out, "COMMIT", "COMMITTED", "AUTHOR", "RELEASE", "PROMOTION", "MESSAGE")
	for _, r := range list.Items {
		subject, _, _ := strings.Cut(r.Message, "\n")
		row(out, r.Commit, stamp(r.CommittedAt), r.Author, number(r.Release), number(r.Promotion), subject)
	}
}

// number is empty for what is not there.
func number(id *int64) string {
	if id == nil {
		return ""
	}
	return strconv.FormatInt(*id, 10)
}

func showRestorationPlan(out io.Writer, p api.RestorationPlan) {
	row(out, "plan", releaseTo(p.Application, p.Version, p.ReleaseNumber, p.Release, p.Environment))
	rows := func(name string, values []string) {
		for _, v := range values {
			row(out, name, v)
		}
	}
	rows("writes", p.Files)
	rows("removes", p.Deletes)
	rows("adds", p.Added)
	for _, o := range p.Removed {
		note := ""
		if o.Stateful {
			note = ", and data with it"
		}
		row(out, "deletes", o.Object+note)
	}
	rows("plain text secret", p.PlaintextSecrets)
	for _, t := range p.AlsoChanges {
		row(out, "also changes", fmt.Sprintf("%s in %s", t.Application, t.Environment))
	}
	rows("note", p.Notes)
	showDiff(out, p.Diff)
}
