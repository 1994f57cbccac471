package scenario_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

func (w *world) pausesSync(environment string) (promotion.SyncPause, error) {
	w.Helper()
	p, err := w.service.PauseSync(w.Context(), rita, promotion.SyncPauseRequest{Application: "web", Environment: environment, Reason: "INC-77",
		ExpiresAt: w.clock.now().Add(time.Hour)})
	w.settle()
	return p, err
}

func automatic(o *promotion.Observation) { o.AutomatedSync = true }

func (w *world) pauses() []promotion.SyncPause {
	w.Helper()
	all, err := w.service.Store.SyncPauses(w.Context(), 0)
	w.must(err)
	return all
}

func TestAutomaticSyncIsPausedUntilSomebodyResumesIt(t *testing.T) {
	w := newProdWorld(t)
	w.sees("web", "prod", automatic)
	p, err := w.pausesSync("prod")
	w.must(err)
	w.sees("web", "prod", manual)
	open := w.pauses()
	if len(open) != 1 || open[0].ID != p.ID || open[0].Owner != "rita" || open[0].Overdue(w.clock.now()) || !open[0].Overdue(w.clock.now().Add(time.Hour)) {
		t.Fatalf("the pauses are %+v", open)
	}

	// Pausing anew replaces owner, reason and end.
	again, err := w.pausesSync("prod")
	w.must(err)
	if open := w.pauses(); len(open) != 1 || open[0].ID != again.ID || again.ID == p.ID {
		t.Fatalf("paused anew, the pauses are %+v", open)
	}

	// What the cluster was not told is not recorded as ended.
	w.cluster.refuses = errors.New("the cluster is away")
	if err := w.service.ResumeSync(w.Context(), rita, "web", "prod"); err == nil || len(w.pauses()) != 1 {
		t.Errorf("resumed without the cluster: %v, pauses %+v", err, w.pauses())
	}
	w.cluster.refuses = nil
	w.must(w.service.ResumeSync(w.Context(), rita, "web", "prod"))
	w.must(w.service.ResumeSync(w.Context(), rita, "web", "prod")) // what is not paused is no error
	if len(w.pauses()) > 0 {
		t.Errorf("resumed, the pauses are %+v", w.pauses())
	}
	if want := []string{"pause web-prod", "resume web-prod"}; !slices.Equal(w.cluster.pauses, want) {
		t.Errorf("the cluster was asked %q, want %q", w.cluster.pauses, want)
	}
}

func TestPauseThatOnlyHalfTookEffectIsSeen(t *testing.T) {
	w := newProdWorld(t)
	w.sees("web", "prod", automatic)
	w.cluster.refuses = errors.New("the cluster is away")
	if _, err := w.pausesSync("prod"); err == nil || len(w.pauses()) != 1 {
		t.Fatalf("%v, pauses %+v", err, w.pauses())
	}
	w.cluster.refuses = nil
	_, err := w.pausesSync("prod")
	w.must(err)
	if len(w.cluster.pauses) != 1 {
		t.Errorf("the cluster was asked %q", w.cluster.pauses)
	}
}

func TestPauseIsRefused(t *testing.T) {
	w := newProdWorld(t)
	w.sees("web", "prod")
	hour := w.clock.now().Add(time.Hour)
	for _, c := range []struct {
		by   promotion.Actor
		r    promotion.SyncPauseRequest
		code string
	}{
		{ada, promotion.SyncPauseRequest{Application: "web", Environment: "prod", Reason: "r", ExpiresAt: hour}, "forbidden"},
		{rita, promotion.SyncPauseRequest{Application: "web", Environment: "mars", Reason: "r", ExpiresAt: hour}, "unknown-target"},
		{rita, promotion.SyncPauseRequest{Application: "web", Environment: "prod", Reason: " ", ExpiresAt: hour}, "missing-reason"},
		{rita, promotion.SyncPauseRequest{Application: "web", Environment: "prod", Reason: "r"}, "malformed-expiry"},
		{rita, promotion.SyncPauseRequest{Application: "web", Environment: "prod", Reason: "r", ExpiresAt: hour.AddDate(0, 1, 0)}, "malformed-expiry"},
		{rita, promotion.SyncPauseRequest{Application: "web", Environment: "prod", Reason: "r", ExpiresAt: hour}, "not-automatic"},
	} {
		_, err := w.service.PauseSync(t.Context(), c.by, c.r)
		var refused *promotion.Error
		if !errors.As(err, &refused) || !strings.Contains(refused.Code, c.code) {
			t.Errorf("%+v: %v, want %s", c.r, err, c.code)
		}
	}
	if len(w.pauses())+len(w.cluster.pauses) > 0 {
		t.Errorf("something was paused: %+v, %q", w.pauses(), w.cluster.pauses)
	}
}
