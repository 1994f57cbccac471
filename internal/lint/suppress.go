package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// SuppressionFile stands at the root and suppresses findings where no comment can stand.
const SuppressionFile = ".sluice-lint.yaml"

// suppressionComment is `# sluice:ignore CODE until DATE: REASON`.
var suppressionComment = regexp.MustCompile(`(?:#|//)\s*sluice:ignore\b[ \t]*([^\s:]*)(?:[ \t]+until[ \t]+([^\s:]+))?[ \t]*(?::[ \t]*(.*))?`)

// suppression says that findings of one code are known, why, and until when.
type suppression struct {
	code, reason string
	until        string // the last day, in UTC
	file         string // where it stands
	line         int

	here   bool           // speaks for the line it stands on or above
	files  *regexp.Regexp // that it speaks for, when it stands in the suppression file
	object string         // a kind and a name; any if empty
}

func suppressionRules() []Rule {
	return []Rule{
		{
			Code: "suppression-expired", Level: Error,
			What: "A suppression whose last day is over. It no longer suppresses anything.",
			Why:  "Somebody meant this to be mended by now.",
			Mend: "Mend the finding and remove the suppression, or give it a new date after having looked at it again.",
		},
		{
			Code: "suppression-incomplete", Level: Error,
			What: "A suppression without a reason or without a last day, or one that cannot be read. It suppresses nothing.",
			Why:  "Whoever finds it later cannot tell whether it still holds.",
			Mend: "Write `# sluice:ignore CODE until YYYY-MM-DD: reason`, or an entry with code, path, reason and until in " + SuppressionFile + ".",
		},
		{
			Code: "suppression-unknown", Level: Error,
			What: "A suppression of a code that no rule has. It suppresses nothing.",
			Why:  "A typing error here leaves the finding in place, or hides that the suppression is not needed.",
			Mend: "Write one of the codes of this page.",
		},
	}
}

type suppressions []suppression

// readSuppressions collects those in force, and findings about the others.
func readSuppressions(f *files, now time.Time) (suppressions, []Finding) {
	all, found := fileSuppressions(f)
	for _, name := range f.names {
		if name != SuppressionFile && !isProse(name) {
			all = append(all, commentSuppressions(f.byName[name])...)
		}
	}
	var inForce suppressions
	for _, s := range all {
		if fault := s.fault(now); fault != nil {
			found = append(found, *fault)
		} else {
			inForce = append(inForce, s)
		}
	}
	return inForce, found
}

// fault says what keeps a suppression from being in force.
func (s suppression) fault(now time.Time) *Finding {
	fault := func(code, format string, args ...any) *Finding {
		return suppressionFault(code, s.file, s.line, fmt.Sprintf(format, args...))
	}
	until, err := time.Parse(time.DateOnly, s.until)
	switch {
	case s.code == "" || strings.TrimSpace(s.reason) == "" || s.until == "":
		return fault("suppression-incomplete", "the suppression of %q needs a code, a reason and a last day", s.code)
	case err != nil:
		return fault("suppression-incomplete", "%q is no day such as 2027-01-31", s.until)
	case !slices.ContainsFunc(rules(), func(r Rule) bool { return r.Code == s.code }):
		return fault("suppression-unknown", "there is no rule %q", s.code)
	case !now.Before(until.AddDate(0, 0, 1)):
		return fault("suppression-expired", "the suppression of %s ended on %s", s.code, s.until)
	}
	return nil
}

func suppressionFault(code, file string, line int, message string) *Finding {
	f := Finding{Code: code, File: file, Line: line, Message: message}
	for _, rule := range suppressionRules() {
		if rule.Code == code {
			f.Level, f.Why, f.Mend = rule.Level, rule.Why, rule.Mend
		}
	}
	return &f
}

func commentSuppressions(f *file) []suppression {
	if !strings.Contains(string(f.data), "sluice:ignore") {
		return nil
	}
	var found []suppression
	for i, line := range strings.Split(string(f.data), "\n") {
		if m := suppressionComment.FindStringSubmatch(line); m != nil {
			found = append(found, suppression{code: m[1], until: m[2], reason: strings.TrimSpace(m[3]), file: f.name, line: i + 1, here: true})
		}
	}
	return found
}

// apply marks the findings that a suppression speaks for.
func (all suppressions) apply(f *files, findings []Finding) {
	comments := map[string][]suppression{}
	var globs []suppression
	for _, s := range all {
		if s.here {
			comments[s.file] = append(comments[s.file], s)
		} else {
			globs = append(globs, s)
		}
	}
	for i := range findings {
		finding := &findings[i]
		for _, s := range append(slices.Clip(comments[finding.File]), globs...) {
			if s.covers(*finding, f) {
				finding.Suppressed, finding.SuppressedReason, finding.SuppressedUntil = true, s.reason, s.until
				break
			}
		}
	}
}

func (s suppression) covers(finding Finding, f *files) bool {
	switch {
	case s.code != finding.Code:
		return false
	case !s.here:
		return s.files.MatchString(finding.File) && (s.object == "" || s.object == finding.Object)
	case s.line >= finding.Line:
		return s.line == finding.Line
	}
	lines := strings.Split(string(f.text(s.file)), "\n")
	for _, between := range lines[s.line-1 : min(len(lines), finding.Line-1)] {
		if between = strings.TrimSpace(between); !strings.HasPrefix(between, "#") && !strings.HasPrefix(between, "//") {
			return false
		}
	}
	return true
}
