package scenario_test

import (
	"fmt"
	"strings"
	"testing"
)

// Who reviews decides from the pull request alone.
func TestTheBodySaysWhatMovesFromWhichDigestToWhich(t *testing.T) {
	w := newProdWorld(t)
	before := digestIn(w.desired("web", "prod").Images[0].Reference)
	id := w.atProd("1.1.0")
	p := w.promotion(id)
	w.contains("the body", w.body(id), fmt.Sprintf("| `%s` | `%s` | `%s` |", p.Release.Artifacts[0].Repository, before, p.Release.Artifacts[0].Digest),
		"Asked for by rita", "CI run", "### Gates", "approvals", "rollback-safe", "Somebody other than rita")
}

// A change too long to read at once is folded, and a text that looks like the end of a code block does not end it.
func TestALongChangeIsFolded(t *testing.T) {
	w := newProdWorld(t)
	name := "apps/web/base/configmap.yaml"
	settings := strings.TrimRight(w.file(name), "\n") + "\n"
	for i := range 60 {
		settings += fmt.Sprintf("  setting-%d: \"```\"\n", i)
	}
	pr := w.opens("more", name, settings)
	d, err := w.host.PullRequest(w.Context(), repository, pr.Number)
	w.must(err)
	if len(d.Comments) != 1 || strings.Count(d.Comments[0].Body, "````") != 2 {
		t.Fatalf("the comments are %+v", d.Comments)
	}
	w.contains("the comment", d.Comments[0].Body, "<details><summary>", "lines</summary>\n\n````diff\n", "setting-59", "````\n\n</details>")
}
