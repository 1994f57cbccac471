package promotion

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// StatusContext is the commit status that stands on every pull request.
const StatusContext = "sluice/gates"

func branchName(p Promotion) string {
	return fmt.Sprintf("sluice/%s/%s/%d", p.Target.Application, p.Target.Environment, p.ID)
}

func title(p *Promotion) string {
	if len(p.Adopt.Fields) > 0 {
		return fmt.Sprintf("%s: what was changed by hand in %s", p.Target.Application, p.Target.Environment)
	}
	if p.Kind == KindChange {
		return fmt.Sprintf("%s: change by %s in %s", p.Target.Application, p.RequestedBy, p.Target.Environment)
	}
	if p.Restore.Revert {
		return fmt.Sprintf("%s: without commit %s in %s", p.Target.Application, short(p.Restore.Commit), p.Target.Environment)
	}
	if p.Restore.Commit != "" {
		return fmt.Sprintf("%s: %s as of %s in %s", p.Target.Application, p.Release.Version, short(p.Restore.Commit), p.Target.Environment)
	}
	if p.Kind == KindRollback {
		return fmt.Sprintf("%s: back to %s in %s", p.Target.Application, p.Release.Version, p.Target.Environment)
	}
	what := p.Release.Version
	if p.Hotfix {
		what = "hotfix " + what
	}
	return fmt.Sprintf("%s: %s to %s", p.Target.Application, what, strings.Join(append([]string{p.Target.Environment}, p.With...), ", "))
}

func commitMessage(f *situation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", title(f.Promotion))
	if f.Kind == KindChange {
		fmt.Fprintf(&b, "%s Asked for by %s.\n\n", f.Adopt.Cause, f.RequestedBy)
	} else {
		fmt.Fprintf(&b, "Release %d of %s, asked for by %s.\n\n", f.Release.Number, f.Target.Application, f.RequestedBy)
	}
	trailers(&b, f)
	return b.String()
}

func mergeMessage(f *situation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Merge pull request #%d: %s\n\n", f.Number, title(f.Promotion))
	trailers(&b, f)
	return b.String()
}

func trailers(b *strings.Builder, f *situation) {
	fmt.Fprintf(b, "Sluice-Promotion: %d\n", f.ID)
	if len(f.Adopt.Fields) > 0 {
		return // whichever release main has stays
	}
	fmt.Fprintf(b, "Sluice-Release: %s/%d\n", f.Target.Application, f.Release.Number)
	for _, d := range digests(f.Release) {
		fmt.Fprintf(b, "Sluice-Digest: %s\n", d)
	}
}

// body is what a reviewer decides from. It holds no times, so that it changes
// only when something that matters has changed.
func (s *Service) body(f *situation) string {
	var b strings.Builder
	if f.Kind == KindChange {
		fmt.Fprintf(&b, "**This changes %s in %s**, so it passes the gates of %s.\n", f.Target.Application, f.Target.Environment, f.Target.Environment)
		if f.Ours() {
			fmt.Fprintf(&b, "\nAsked for by %s. %s\n\n", f.RequestedBy, f.Reason)
		}
		if f.newPolicy {
			b.WriteString("\nIt changes the **policy**: the gates of tomorrow are decided here by the gates of today.\n")
		}
	} else {
		fmt.Fprintf(&b, "**%s %s → %s** (release %d, line %s)\n\n", f.Target.Application, f.Release.Version, f.Target.Environment, f.Release.Number, f.Release.Line)
		if len(f.With) > 0 {
			fmt.Fprintf(&b, "The same commit gives it to %s too. Each has its own gates, and all have to pass.\n\n", strings.Join(f.With, ", "))
		}
		if f.Hotfix {
			f.bodyHotfix(&b)
		}
		s.bodyOrigin(&b, f)
		f.artifactTable(&b)
	}
	if f.Adopt.Cause != "" {
		fmt.Fprintf(&b, "**This makes Git say what runs.** %s\n\n", f.Adopt.Cause)
	}
	f.writeDiff(&b)
	switch {
	case f.Restore.Revert:
		fmt.Fprintf(&b, "Exactly what commit `%s` changed is undone.\n\n", f.Restore.Commit)
	case f.Restore.Commit != "":
		fmt.Fprintf(&b, "The configuration goes back to commit `%s`.\n\n", f.Restore.Commit)
	}
	for _, note := range f.proposed.Notes {
		fmt.Fprintf(&b, "- ⚠ %s\n", note)
	}
	if len(f.Source) > 0 {
		b.WriteString("\n### What changes in the source\n\n")
	}
	for _, c := range f.Source {
		c.write(&b)
	}
	if len(f.Lint) > 0 {
		b.WriteString("\n### Lint: what this brings that was not there before\n\n")
		for _, finding := range f.Lint {
			fmt.Fprintf(&b, "- %s\n", finding)
		}
	}
	b.WriteString("\n### Gates\n\n")
	for _, g := range f.gates {
		if g.Phase != PhaseSync {
			fmt.Fprintf(&b, "- %s **%s**: %s%s\n", mark(g), g.Gate, g.Reason, onlyReported(g))
		}
	}
	if f.MergeStands() {
		fmt.Fprintf(&b, "\n%s asked for it to be merged when the gates pass.\n", f.StandingMerge.By)
	}
	fmt.Fprintf(&b, "\n%s\n\n[Promotion %d](%s/promotions/%d)\n", f.waiting(), f.ID, s.PublicURL, f.ID)
	return b.String()
}

func (s *Service) bodyOrigin(b *strings.Builder, f *situation) {
	switch {
	case f.Release.Origin == FromImport:
		b.WriteString("Imported from what ran already: unproven, no build was posted for it.\n")
	case f.build.Source.Commit != "":
		fmt.Fprintf(b, "Source: `%s` at `%s`", f.build.Source.Repository, f.build.Source.Commit)
		if f.build.CI.RunURL != "" {
			fmt.Fprintf(b, ", [CI run](%s)", f.build.CI.RunURL)
		}
		b.WriteString("\n")
	}
	if f.Release.RebuildOf != 0 {
		b.WriteString("\n**Rebuild**: this version was posted before with other digests. It inherits no evidence and no approval.\n")
	}
	fmt.Fprintf(b, "\nAsked for by %s. %s\n", f.RequestedBy, f.Reason)
}

func mark(g GateResult) string {
	switch g.Verdict {
	case Pass:
		return "✅ pass"
	case Wait:
		return "⏳ wait"
	}
	return "⛔ block"
}

func onlyReported(g GateResult) string {
	if g.Mode == Report && g.Verdict != Pass {
		return " (reported only)"
	}
	return ""
}

// status is the one check shown on the pull request's head.
func (f *situation) status() CommitStatus {
	held := f.held()
	if f.Decision == Rejected {
		return CommitStatus{Context: StatusContext, State: "failure", Description: "rejected by " + f.DecidedBy}
	}
	if len(held) == 0 {
		return CommitStatus{Context: StatusContext, State: "success", Description: "every gate passes"}
	}
	state := "pending"
	for _, g := range held {
		if g.Verdict == Block {
			state = "failure"
		}
	}
	var names []string
	for _, g := range held {
		if !slices.Contains(names, g.Gate) {
			names = append(names, g.Gate)
		}
	}
	return CommitStatus{Context: StatusContext, State: state, Description: "held by " + strings.Join(names, ", ")}
}

func (c CommitStatus) key(f *situation) string {
	return f.HeadSHA + " " + c.State + " " + c.Description
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
