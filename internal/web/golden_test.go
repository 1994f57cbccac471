package web_test

import (
	"flag"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

var update = flag.Bool("update", false, "write testdata anew")

// version is in the addresses of static files and changes with each edit of one.
var version = regexp.MustCompile(`\?v=[0-9a-f]+`)

func TestPages(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, as, target string
		status           int
	}{
		{"board-anonymous", "", "/", http.StatusOK},
		{"board-approver", amir, "/", http.StatusOK},
		{"board-fragment", amir, "/?fragment=board&q=CHECK", http.StatusOK},
		{"board-busy", rita, "/?busy=1", http.StatusOK},
		{"board-nothing", rita, "/?q=none+of+them", http.StatusOK},
		{"promotion-approver", amir, "/promotions/12", http.StatusOK},
		{"promotion-requester", rita, "/promotions/12", http.StatusOK},
		{"promotion-anonymous", "", "/promotions/12", http.StatusOK},
		{"promotion-failed", rita, "/promotions/14", http.StatusOK},
		{"promotion-verified", rita, "/promotions/10", http.StatusOK},
		{"promote", rita, "/promote", http.StatusOK},
		{"promote-preselected", rita, "/promote?application=checkout&environment=prod-eu&release=2", http.StatusOK},
		{"promote-viewer", vera, "/promote?application=checkout&release=1.1.0", http.StatusOK},
		{"application", vera, "/applications/checkout", http.StatusOK},
		{"application-not-rendering", vera, "/applications/billing", http.StatusOK},
		{"release", vera, "/releases/3", http.StatusOK},
		{"release-manager", rita, "/releases/3", http.StatusOK},
		{"target", rita, "/applications/checkout/prod-eu", http.StatusOK},
		{"target-viewer", vera, "/applications/billing/staging", http.StatusOK},
		{"hold", rita, "/hold?application=checkout&environment=prod-eu", http.StatusOK},
		{"sync-pause", rita, "/sync-pause?application=checkout&environment=dev", http.StatusOK},
		{"stop", rita, "/hold", http.StatusOK},
		{"stop-viewer", vera, "/hold", http.StatusOK},
		{"calendar", rita, "/calendar", http.StatusOK},
		{"calendar-month", vera, "/calendar?view=month&zone=UTC&application=check&from=2026-02-10", http.StatusOK},
		{"calendar-malformed", vera, "/calendar?zone=Mars/Olympus&from=tomorrow", http.StatusUnprocessableEntity},
		{"freeze", rita, "/freezes/new?kind=freeze&environment=prod-eu", http.StatusOK},
		{"extra-window", vera, "/freezes/new?kind=window", http.StatusOK},
		{"override", gil, "/overrides/new?application=checkout&environment=prod-eu&gates=approvals", http.StatusOK},
		{"override-where", rita, "/overrides/new", http.StatusOK},
		{"drift-nothing", vera, "/drift", http.StatusOK},
		{"notifications-nothing", vera, "/notifications", http.StatusOK},
		{"exceptions-nothing", amir, "/violations", http.StatusOK},
		{"go-back", rita, "/rollback?application=checkout&environment=prod-eu&to=1.1.0&way=images-and-config&base=1", http.StatusOK},
		{"adopt", rita, "/adopt?application=checkout&environment=prod-us", http.StatusOK},
		{"attestations", amir, "/attestations?application=checkout&from=3&to=1.1.0&subject=messages", http.StatusOK},
		{"adopt-fields", rita, "/adopt?application=checkout&environment=prod-us&of=fields&field=8", http.StatusOK},
		{"restore", rita, "/restore?application=checkout&environment=prod-eu&commit=" + mergeSHA + "&base=1", http.StatusOK},
		{"pull-new", rita, "/git/platform-config/pulls/new", http.StatusOK},
		{"release-imported", vera, "/releases/1", http.StatusOK},
		{"history", vera, "/history?application=checkout&at=2026-03-01+02:30", http.StatusOK},
		{"history-malformed", vera, "/history?environment=dev&at=last+sunday", http.StatusUnprocessableEntity},
		{"audit", vera, "/audit?promotion=12", http.StatusOK},
		{"set-up", vera, "/set-up", http.StatusOK},
		{"pulls", vera, "/git/platform-config/pulls", http.StatusOK},
		{"pull", vera, "/git/platform-config/pulls/7", http.StatusOK},
		{"sign-in-demo", "", "/sign-in?next=/promotions/12", http.StatusOK},
		{"not-found", vera, "/promotions/99", http.StatusNotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newDoor(t, true).get(tt.as, tt.target)
			if w.Code != tt.status {
				t.Fatalf("GET %s answered %d, want %d", tt.target, w.Code, tt.status)
			}
			golden(t, tt.name, w.Body.Bytes())
		})
	}
}

// TestPagesOfTrouble looks at the pages while something is held, overridden, past a gate or broken.
func TestPagesOfTrouble(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, as, target string }{
		{"trouble-board", amir, "/"},
		{"trouble-application", rita, "/applications/checkout"},
		{"trouble-target", gil, "/applications/checkout/prod-us"},
		{"trouble-owed", rita, "/applications/checkout/prod-eu"},
		{"trouble-waive", rita, "/owed/waive?application=checkout&environment=prod-eu&release=3"},
		{"trouble-queue", rita, "/promotions/18"},
		{"trouble-hold", rita, "/hold?application=checkout&environment=prod-us"},
		{"trouble-sync-pause", rita, "/sync-pause?application=checkout&environment=prod-us"},
		{"trouble-stop", rita, "/hold"},
		{"trouble-promotion", gil, "/promotions/12"},
		{"trouble-change", amir, "/promotions/15"},
		{"trouble-adopted", rita, "/promotions/17"},
		{"trouble-release", rita, "/releases/3"},
		{"trouble-promote", rita, "/promote?application=checkout&environment=prod-us&release=3&at=2026-03-02+09:30"},
		{"trouble-exceptions", amir, "/violations"},
		{"trouble-notifications", rita, "/notifications"},
		{"trouble-drift", vera, "/drift"},
		{"trouble-set-up", vera, "/set-up"},
		{"trouble-pull", amir, "/git/platform-config/pulls/8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := troubledDoor(t).get(tt.as, tt.target)
			if w.Code != http.StatusOK {
				t.Fatalf("GET %s answered %d", tt.target, w.Code)
			}
			golden(t, tt.name, w.Body.Bytes())
		})
	}
}

// troubledDoor has everything that is not as it should be.
func troubledDoor(t *testing.T) *door {
	d := newDoor(t, true)
	d.holds, d.overrides, d.violations = []promotion.Hold{sampleHold(), sampleStop()}, sampleOverrides(), sampleViolations()
	d.owed = sampleOwed()
	next, hotfix := openPromotion(), openPromotion()
	next.ID, next.Release.Version, next.Behind, hotfix.ID, hotfix.Release.Version, hotfix.Hotfix = 18, "1.3.0", 12, 19, "1.0.1", true
	d.rows[1].Cells[2].Waiting = []promotion.Promotion{next, hotfix}
	next.PullRequest, next.Number, next.WaitsFor = promotion.PullRequestNone, 0, "It waits at place 1 of the queue for prod-eu, behind promotion 12 (1.2.0), and moves up when that is merged or over."
	d.promotions = append(d.promotions, next)
	d.pauses = []promotion.SyncPause{sampleSyncPause()}
	d.drifts, d.driftLooks = sampleDrift(), sampleDriftLooks()
	d.overdue = []promotion.Overdue{{Since: before(1600), Times: 2, Notification: promotion.Notification{Kind: promotion.NotifyOverrideReview,
		Message: "the override 3 by gil of checkout in prod-eu is to be reviewed by somebody else", Page: "/violations"}}}
	d.deliveries = []promotion.Delivery{{ID: "d-1", Destination: "chat", Attempts: 3, TriedAt: before(2), Problem: "it answered 500 Internal Server Error",
		Notification: promotion.Notification{Kind: promotion.NotifyViolation, At: before(20), Application: "checkout", Environment: "prod-eu",
			Message: "checkout in prod-eu was <pushed> past review", Page: "/violations"}}}
	d.gates[4].Override, d.gates[4].Reason = 3, d.gates[4].Reason+" Overridden by gil until Sun 1 Mar 2026 12:55 UTC: INC-77: checkout does not answer"
	d.releases[0].RejectedBy, d.releases[0].RejectedAt, d.releases[0].Rejection = "amir", before(60), "loses carts"
	d.releases[0].RolledBack = []promotion.RollbackMark{{PromotionID: 12, Environment: "prod-eu", By: "rita", Reason: "loses carts", At: before(90)}}
	d.rows[1].Cells[0].Deployments[0].RolledBack = true
	d.changes = []promotion.Promotion{personsChange(15, target(3, "checkout", "prod-eu", 50)), personsChange(16, target(4, "checkout", "prod-us", 50))}
	d.promotions = append(append(d.promotions, d.changes...), adoptedFields(17, target(4, "checkout", "prod-us", 50)))
	d.engine = []promotion.EngineFault{{File: "argocd/checkout.yaml", Line: 9, Message: "Application checkout-qa deploys apps/checkout/overlays/qa, and there is no such folder"}}
	d.faults = promotion.PolicyFaults{{File: "sluice.yaml", Line: 12, Code: "unknown-key", Message: "aprovals is no setting: did you mean approvals?"},
		{File: "apps/checkout/sluice.yaml", Message: "it is no YAML"}}
	return d
}

func TestPageOfRefusal(t *testing.T) {
	t.Parallel()
	d := newDoor(t, true)
	d.err = &promotion.Error{Kind: promotion.Refused, Code: "merge-refused", Message: "promotion 12 is held by sync-window: closed", Gates: sampleGates()[5:6]}
	w := d.post(amir, "/promotions/12/merge", nil)
	if w.Code != http.StatusConflict {
		t.Fatalf("a merge that a gate holds answered %d", w.Code)
	}
	golden(t, "promotion-merge-refused", w.Body.Bytes())
}

func TestSignInPageWithoutDemo(t *testing.T) {
	t.Parallel()
	d := newDoor(t, false)
	golden(t, "sign-in", d.get("", "/sign-in").Body.Bytes())
	w := d.post("", "/sign-in", url.Values{"token": {"wrong-token"}, "next": {"/audit"}})
	if w.Code != http.StatusUnauthorized {
		t.Fatalf("a wrong token answered %d", w.Code)
	}
	golden(t, "sign-in-refused", w.Body.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	got = version.ReplaceAll(got, []byte("?v=0"))
	file := filepath.Join("testdata", name+".html")
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("page differs from %s; run with -update and look at the change. Got:\n%s", file, got)
	}
}
