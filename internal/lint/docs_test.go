package lint_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/lint"
)

const (
	page      = "../../docs/lint.md"
	fromRules = "<!-- The rest is written from the rules by `go test ./internal/lint -run TestPage -update`. -->\n"
)

// TestPage holds the page of documentation to the rules: what people wrote stands
// above the mark, and below it one section for each rule.
func TestPage(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	written, sections, marked := strings.Cut(string(data), fromRules)
	if !marked {
		t.Fatalf("%s has no line %q", page, fromRules)
	}
	want := ruleSections()
	if *update {
		if err := os.WriteFile(page, []byte(written+fromRules+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, sections); diff != "" {
		t.Errorf("%s is not what the rules say (-want +got); run with -update:\n%s", page, diff)
	}
}

func ruleSections() string {
	var text strings.Builder
	for _, rule := range lint.Rules() {
		fmt.Fprintf(&text, "\n## %s\n\n**What** (%s). %s\n\n**Why it matters.** %s\n\n**The mend.** %s\n\n**Suppressing it.** %s\n",
			rule.Code, rule.Level, rule.What, rule.Why, rule.Mend, suppressing(rule.Code))
	}
	return text.String()
}

func suppressing(code string) string {
	if strings.HasPrefix(code, "suppression-") {
		return "Not possible: mend the suppression."
	}
	return fmt.Sprintf("`# sluice:ignore %s until 2027-01-31: reason` on or above the line, or an entry with `code: %s` in `%s`.",
		code, code, lint.SuppressionFile)
}
