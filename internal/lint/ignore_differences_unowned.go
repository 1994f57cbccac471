package lint

import (
	"regexp"
	"strings"
)

// ownerAnnotation on an Application speaks for all its entries.
const ownerAnnotation = "sluice.dev/ignore-differences"

var (
	ownerSaid  = regexp.MustCompile(`(?i)\bowner\s*[:=]\s*[^\s;,]`)
	reasonSaid = regexp.MustCompile(`(?i)\breason\s*[:=]\s*[^\s;,]`)
)

func ignoreDifferencesUnowned() Rule {
	return Rule{
		Code: "ignore-differences-unowned", Level: Warning,
		What: "An entry under ignoreDifferences without a stated owner and reason.",
		Why:  "Every entry is a blind spot. When nobody knows who asked for it and why, nobody dares to take it away again.",
		Mend: "Write `# owner: team; reason: why` on or above the entry, or give the Application the annotation `" + ownerAnnotation + ": owner=team; reason=why`, which speaks for all its entries.",
		run:  unowned,
	}
}

func unowned(r *repository) []Finding {
	var found []Finding
	for _, a := range r.input.Applications {
		for _, d := range a.IgnoreDifferences {
			if !isOwned(a.Annotations[ownerAnnotation]) && !isOwned(r.files.comments(a.File, d.Line)) {
				found = append(found, r.aboutApplication(a, d.Line, "the differences ignored in "+kindOf(d)+" have no stated owner and reason"))
			}
		}
	}
	return found
}

func isOwned(said string) bool { return ownerSaid.MatchString(said) && reasonSaid.MatchString(said) }

// comments gives what is commented on a line and right above it.
func (f *files) comments(name string, line int) string {
	lines := strings.Split(string(f.text(name)), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	_, said, _ := strings.Cut(lines[line-1], " #")
	for i := line - 2; i >= 0; i-- {
		above, isComment := strings.CutPrefix(strings.TrimSpace(lines[i]), "#")
		if !isComment {
			break
		}
		said = above + "\n" + said
	}
	return said
}
