package scenario_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// projects are the AppProjects of the cluster, or why they cannot be read.
type projects struct {
	all []string
	err error
}

func (p *projects) Projects(context.Context) ([][]byte, error) {
	all := make([][]byte, len(p.all))
	for i, text := range p.all {
		all[i] = []byte(text)
	}
	return all, p.err
}

// projectWith gives the cluster an AppProject with sync windows, and an Application of it that deploys web to prod.
func (w *world) projectWith(windows string) *projects {
	w.Helper()
	p := &projects{all: []string{fmt.Sprintf(`{"apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject", "metadata": {"name": "default", "namespace": "argocd"},
		"spec": {"syncWindows": [%s]}}`, windows)}}
	w.service.Projects = map[string]promotion.ProjectReader{clusterName: p}
	w.sees("web", "prod", healthy, w.adding("web", "prod", nil))
	return p
}

// closedTillNoon is a window of every morning; the world starts at nine.
const closedTillNoon = `{"kind": "deny", "schedule": "0 6 * * *", "duration": "6h", "applications": ["web-*"], "description": "mornings"}`

func TestAProjectsWindowHoldsTheSync(t *testing.T) {
	w := newProdWorld(t)
	w.projectWith(closedTillNoon)
	p := w.mergedInProd("1.1.0")
	w.is(p.ID, promotion.StateMerged)
	same(w, "syncs", len(w.cluster.syncs), 0)
	g := w.gate(p.ID, promotion.PhaseSync, promotion.GateProjectWindow)
	same(w, "verdict", g.Verdict, promotion.Wait)
	noon := time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)
	same(w, "until", g.Until.UTC(), noon)
	w.contains("what it waits for", p.WaitsFor, "project default", "web-prod", "mornings", "12:00 UTC")

	_, err := w.service.Override(w.Context(), gil, promotion.OverrideRequest{Application: "web", Environment: "prod", Gates: []string{promotion.GateProjectWindow},
		Reason: "now", ExpiresAt: noon})
	w.refused(err, "unknown-gate") // Argo CD would hold it all the same, and start it later
	_, err = w.service.Sync(w.Context(), rita, p.ID)
	w.refused(err, "sync-refused")
	w.lookAtEverything()
	same(w, "syncs", len(w.cluster.syncs), 0)
	w.pass(3 * time.Hour)
	same(w, "syncs after the window", len(w.cluster.syncs), 1)
	w.is(p.ID, promotion.StateSyncing)
}

func TestProjectsThatCannotBeReadHoldTheSync(t *testing.T) {
	w := newProdWorld(t)
	unread := w.projectWith("")
	unread.err = errors.New("the cluster does not answer")
	p := w.mergedInProd("1.1.0")
	same(w, "verdict", w.gate(p.ID, promotion.PhaseSync, promotion.GateProjectWindow).Verdict, promotion.Block)
	w.contains("what it waits for", p.WaitsFor, "does not answer")
	unread.err = nil
	w.pass(time.Minute)
	w.is(p.ID, promotion.StateSyncing)
}

func TestAProjectsWindowHoldsWhatRestoresLiveObjects(t *testing.T) {
	w := newProdWorld(t)
	w.verifies(w.mergedInProd("1.1.0").ID)
	syncs := len(w.cluster.syncs)
	w.projectWith(closedTillNoon)
	refusal := w.refused(w.service.RestoreLive(w.Context(), rita, "web", "prod"), "project-window-closed")
	w.contains("the refusal", refusal.Message, "mornings")
	same(w, "syncs", len(w.cluster.syncs), syncs)
	w.clock.pass(4 * time.Hour)
	w.must(w.service.RestoreLive(w.Context(), rita, "web", "prod"))
	same(w, "syncs after the window", len(w.cluster.syncs), syncs+1)
}

func TestWhereAProjectAndThePolicyDisagreeIsSaid(t *testing.T) {
	w := newProdWorld(t)
	read := w.projectWith(closedTillNoon)
	midnight := time.Date(2026, time.March, 2, 0, 0, 0, 0, time.UTC)
	w.closesAt(midnight.Add(30 * time.Hour)) // in the morning after
	beside := func() promotion.DeploymentWindows {
		t.Helper()
		all, err := w.service.Windows(w.Context(), midnight, midnight.AddDate(0, 0, 2))
		w.must(err)
		for _, target := range all {
			if target.Target.Application == "web" && target.Target.Environment == "prod" {
				same(w, "deployments", len(target.Beside), 1)
				return target.Beside[0]
			}
		}
		t.Fatal("web in prod is not there")
		return promotion.DeploymentWindows{}
	}
	found := beside()
	same(w, "project", found.Project, "default")
	same(w, "open now", found.Now.Open, false)
	at := func(h int) time.Time { return midnight.Add(time.Duration(h) * time.Hour) }
	want := []struct{ from, to time.Time }{{at(6), at(12)}, {at(36), at(48)}} // while both are closed they agree
	same(w, "disagreements", len(found.Differs), len(want))
	for i, d := range found.Differs {
		same(w, "from", d.From.UTC(), want[i].from)
		same(w, "to", d.To.UTC(), want[i].to)
	}
	w.contains("the first", found.Differs[0].Reason, "the policy is open", "mornings")
	w.contains("the second", found.Differs[1].Reason, "the policy is closed")
	read.err = errors.New("forbidden")
	same(w, "problem", beside().Problem, "forbidden")
}
