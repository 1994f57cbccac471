package lint

import (
	"fmt"
	"io/fs"
	"regexp"

	"github.com/sluicehq/sluice/internal/manifest"
)

// quoted is what a parser cites from the file, which may be a secret.
var quoted = regexp.MustCompile("(?s)`[^`]*`")

func renderFailed() Rule {
	return Rule{
		Code: "render-failed", Level: Error,
		What: "A target that does not render. It is a warning where Sluice cannot render it by design: remote bases, and plugins that run programs.",
		Why:  "The cluster keeps what it has, and every later change to this target waits. No other rule can look at it.",
		Mend: "Run `sluice overlay render` on the folder and mend what it says; bring remote bases into the repository.",
		run:  renderFailures,
	}
}

func renderFailures(r *repository) []Finding {
	var found []Finding
	for _, t := range r.targets {
		if t.refusal == nil {
			continue
		}
		f := Finding{File: t.refusal.File, Line: max(1, t.refusal.Line), Targets: []string{t.Path},
			Message: fmt.Sprintf("does not render (%s): %s", t.refusal.Code, hideCredentials(quoted.ReplaceAllString(t.refusal.Message, "(hidden)")))}
		if info, err := fs.Lstat(r.input.Tree, f.File); err != nil || info.IsDir() {
			f.File, f.Line = r.top(t)
		}
		if t.refusal.Code == manifest.RemoteBase || t.refusal.Code == manifest.UnsupportedPlugin {
			f.Level = Warning
		}
		found = append(found, f)
	}
	return found
}
