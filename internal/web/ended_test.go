package web_test

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// The page of a target has the evidence of a crash beside the diagnosis.
func TestTheLastLinesOfACrash(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ended promotion.LastEnd
		shows []string
	}{
		"its log":       {promotion.LastEnd{ExitCode: 1, Log: "starting\n(hidden)\npanic: <nil> map"}, []string{"of pod search-0 ended with exit code 1", "<pre", "panic: &lt;nil&gt; map", "looks like a credential is hidden"}},
		"not allowed":   {promotion.LastEnd{ExitCode: 1, Unread: "Sluice may not read logs here."}, []string{"exit code 1", "Sluice may not read logs here."}},
		"nothing":       {promotion.LastEnd{ExitCode: 1}, []string{"exit code 1", "It wrote nothing."}},
		"never crashed": {promotion.LastEnd{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t, true)
			for _, row := range d.rows {
				for _, cell := range row.Cells {
					if row.Application == "search" && cell.Target.Environment == "dev" {
						cell.Deployments[0].RunningImages = []promotion.ContainerImage{{Pod: "search-0", Container: "search", Ended: test.ended}}
					}
				}
			}
			page := d.get(vera, "/applications/search/dev").Body.String()
			for _, text := range test.shows {
				if !strings.Contains(page, text) {
					t.Errorf("the page lacks %q", text)
				}
			}
			if test.shows == nil && strings.Contains(page, `class="ended"`) {
				t.Error("the page has the end of what never ended")
			}
		})
	}
}
