package web_test

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

func TestNeedsYou(t *testing.T) {
	t.Parallel()
	approved := func(d *door) {
		for i := range d.gates {
			if d.gates[i].Mode == promotion.Enforce {
				d.gates[i].Verdict = promotion.Pass
			}
		}
	}
	const failed, approve, merge = "Look after search 2.4.0 to dev", "Approve checkout 1.2.0 to prod-eu", "Merge checkout 1.2.0 to prod-eu"
	for _, tt := range []struct {
		name, as string
		change   func(*door)
		want     []string
	}{
		{"viewer", vera, nil, nil},
		{"nobody", "", nil, nil},
		{"approver", amir, nil, []string{failed, approve}},
		{"who asked for it", rita, nil, []string{failed}},
		{"has approved", amir, func(d *door) { d.gates[4].Inputs = map[string]any{"by": []any{"amir"}} }, []string{failed}},
		{"every gate passes", rita, approved, []string{failed, merge}},
		{"merge stands", rita, func(d *door) { approved(d); stands(d.rows[1].Cells[2].Open) }, []string{failed}},
		{"merge is asked for", rita, func(d *door) { approved(d); d.rows[1].Cells[2].Open.MergeAskedBy = "ada" }, []string{failed}},
		{"merged by policy", rita, func(d *door) { approved(d); d.rows[1].Cells[2].Open.WaitsFor = "Sluice merges it now." }, []string{failed}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t, true)
			if tt.change != nil {
				tt.change(d)
			}
			body := d.get(tt.as, "/").Body.String()
			for _, text := range []string{failed, approve, merge} {
				wanted := false
				for _, w := range tt.want {
					wanted = wanted || w == text
				}
				if got := strings.Contains(body, text); got != wanted {
					t.Errorf("%q is shown: %v, want %v", text, got, wanted)
				}
			}
		})
	}
}

func TestBoardFilters(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"/":                   "billing checkout search quiet-one",
		"/?q=EC":              "checkout",
		"/?busy=1":            "billing checkout search",
		"/?busy=1&q=quiet":    "",
		"/?q=%20search%20":    "search",
		"/?q=%3Cscript%3E":    "",
		"/?fragment=board&q=": "billing checkout search quiet-one",
	} {
		body := newDoor(t, true).get(vera, target).Body.String()
		var got []string
		for _, name := range []string{"billing", "checkout", "search", "quiet-one"} {
			if strings.Contains(body, `<th scope="row"><a href="/applications/`+name+`">`) {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("GET %s shows %v, want %q", target, got, want)
		}
	}
}

func TestWhatIsHeldOrOverriddenIsNotQuiet(t *testing.T) {
	t.Parallel()
	quiet := target(8, "quiet-one", "dev", 10)
	for name, change := range map[string]func(*door){
		"held":       func(d *door) { d.holds = []promotion.Hold{{ID: 1, Target: quiet, HeldBy: "rita", Reason: "why not"}} },
		"paused":     func(d *door) { d.pauses = []promotion.SyncPause{{ID: 1, Target: quiet, ExpiresAt: noon.Add(1)}} },
		"overridden": func(d *door) { d.overrides = []promotion.Override{{ID: 1, Target: quiet, ExpiresAt: noon.Add(1)}} },
	} {
		d := newDoor(t, true)
		change(d)
		if body := d.get(vera, "/?busy=1").Body.String(); !strings.Contains(body, `<a href="/applications/quiet-one">`) {
			t.Errorf("a target that is %s counts as quiet", name)
		}
	}
	d := newDoor(t, true)
	d.overrides = []promotion.Override{{ID: 1, Target: quiet, ExpiresAt: noon}}
	if body := d.get(vera, "/?busy=1").Body.String(); strings.Contains(body, `<a href="/applications/quiet-one">`) {
		t.Error("a target whose override has ended does not count as quiet")
	}
}

func TestSimulatedIsSaid(t *testing.T) {
	t.Parallel()
	d := newDoor(t, true)
	const banner = "This cluster is simulated"
	if !strings.Contains(d.get(vera, "/").Body.String(), banner) {
		t.Error("a simulated cluster is not named so")
	}
	for _, row := range d.rows {
		for _, cell := range row.Cells {
			for i := range cell.Deployments {
				cell.Deployments[i].Simulated = false
			}
		}
	}
	if strings.Contains(d.get(vera, "/").Body.String(), banner) {
		t.Error("a real cluster is called simulated")
	}
}

func TestManyNeedsAreFolded(t *testing.T) {
	t.Parallel()
	d := newDoor(t, true)
	for id := range int64(18) {
		p := failedPromotion()
		p.ID = 100 + id
		d.rows = append(d.rows, promotion.BoardRow{Application: "more", Cells: []promotion.BoardCell{{Target: p.Target, Open: &p}}})
	}
	body := d.get(amir, "/").Body.String()
	shown, folded, ok := strings.Cut(body, "<summary>14 more</summary>")
	if !ok {
		t.Fatalf("twenty needs are not folded:\n%s", body)
	}
	if open, rest := strings.Count(shown, `id="need-`), strings.Count(folded, `id="need-`); open != 6 || rest != 14 {
		t.Errorf("%d needs are shown and %d folded, want 6 and 14", open, rest)
	}
}
