package web

import (
	"fmt"

	"github.com/sluicehq/sluice/internal/promotion"
)

// carries says in few words what a promotion brings.
func carries(p promotion.Promotion) string {
	switch {
	case len(p.Adopt.Fields) > 0:
		return plural(len(p.Adopt.Fields), "adopted field")
	case p.Kind == promotion.KindChange:
		return fmt.Sprintf("change #%d", p.Number)
	case p.Restore.Revert:
		return fmt.Sprintf("%s without %s", p.Release.Version, shorten(p.Restore.Commit).Short)
	case p.Restore.Commit != "":
		return fmt.Sprintf("%s as of %s", p.Release.Version, shorten(p.Restore.Commit).Short)
	}
	return p.Release.Version
}

// what names a promotion by what it brings.
func what(p promotion.Promotion) string {
	switch {
	case len(p.Adopt.Fields) > 0:
		return "adopting " + plural(len(p.Adopt.Fields), "field")
	case p.Kind == promotion.KindChange:
		return fmt.Sprintf("pull request #%d of %s", p.Number, p.RequestedBy)
	case p.Restore.Revert:
		return "undoing " + shorten(p.Restore.Commit).Short
	case p.Restore.Commit != "":
		return "restoring " + carries(p)
	case p.Kind == promotion.KindRollback:
		return "rollback to " + p.Release.Version
	case p.Hotfix:
		return "hotfix " + p.Release.Version
	}
	return "promotion of " + p.Release.Version
}

// kindSaid says what sort of a promotion it is, and what follows from that.
func kindSaid(p promotion.Promotion) string {
	switch {
	case len(p.Adopt.Fields) > 0:
		return "Change: makes Git say what was changed by hand. " + p.Adopt.Cause
	case p.Kind == promotion.KindChange:
		return fmt.Sprintf("Change: %s's own pull request, which alters what %s runs. Sluice neither wrote it nor closes it: it judges it, and follows the merge.",
			p.RequestedBy, p.Target.Environment)
	case p.Adopt.Cause != "":
		return "Rollback: makes Git say what runs. " + p.Adopt.Cause
	case p.Restore.Revert:
		return "Rollback: undoes exactly what one commit of main changed."
	case p.Restore.Commit != "" && p.Restore.Base:
		return "Rollback: restores the configuration and the base as main had them at a commit. Other environments share the base and change too."
	case p.Restore.Commit != "":
		return "Rollback: restores the configuration as main had it at a commit."
	case p.Hotfix:
		return "Hotfix: carries exactly the release's digests, past the environments before it. They are owed it once it is live."
	case p.Kind == promotion.KindRollback:
		return "Rollback: goes back to an earlier release."
	}
	return "Release: carries exactly the release's digests."
}

// kindWord is empty for what is no more than a release.
func kindWord(p promotion.Promotion) string {
	switch {
	case p.Hotfix:
		return "hotfix"
	case p.Kind == promotion.KindRelease:
		return ""
	case p.Adopt.Cause != "":
		return "adopts what runs"
	case p.Restore.Revert:
		return "undoes one change"
	case p.Restore.Commit != "":
		return "restores the configuration"
	}
	return string(p.Kind)
}
