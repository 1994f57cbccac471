package scenario_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/prometheus"
	"github.com/sluicehq/sluice/internal/promotion"
)

// measures connects a Prometheus that answers every range with the value of the moment, or with an error when there is none.
func (w *world) measures() (value *atomic.Value) {
	w.Helper()
	value = &atomic.Value{}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		number := value.Load().(string)
		if number == "" {
			http.Error(out, "out of memory", http.StatusServiceUnavailable)
			return
		}
		from, _ := strconv.ParseFloat(r.FormValue("start"), 64)
		to, _ := strconv.ParseFloat(r.FormValue("end"), 64)
		step, _ := strconv.ParseFloat(r.FormValue("step"), 64)
		var samples []string
		for at := from; at <= to; at += step {
			samples = append(samples, fmt.Sprintf(`[%.0f,"%s"]`, at, number))
		}
		_, _ = fmt.Fprintf(out, `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[%s]}]}}`, strings.Join(samples, ","))
	}))
	w.Cleanup(server.Close)
	var err error
	w.service.Metrics, err = prometheus.New(prometheus.Options{URL: server.URL})
	w.must(err)
	return value
}

// rollsBackToRecover has prod go back to 1.1.0, where the policy wants errors down again.
func (w *world) rollsBackToRecover(mode promotion.Mode) promotion.Promotion {
	w.Helper()
	w.verifiedInProd("1.1.0")
	w.verifiedInProd("1.2.0")
	w.clone().Push("main", "sluice.yaml", fmt.Sprintf(`version: 1
environments:
  prod:
    rollback:
      recovery: [{metric: errors, query: sum(errors), below: 0.5, for: 5m}]
      recover_within: 10m
    gates: {recovered: %s}
`, mode))
	w.settle()
	p := w.startsBack(back("prod", "1.1.0"))
	w.approves(ada, p.ID)
	w.merges(rita, p.ID)
	w.rollsOut(p.ID)
	return p
}

func TestARollbackIsVerifiedOnceItsMetricsAreBack(t *testing.T) {
	w := newProdWorld(t)
	errors := w.measures()
	errors.Store("0.1")
	p := w.rollsBackToRecover(promotion.Enforce)
	w.pass(4 * time.Minute)
	w.is(p.ID, promotion.StateLive)
	w.contains("what it waits for", w.promotion(p.ID).WaitsFor, "Not recovered yet", "errors below 0.5 for 5m can be told at")
	w.restarts()
	w.lookAtEverything()
	w.pass(time.Minute)
	w.is(p.ID, promotion.StateVerified)
	gate := w.gate(p.ID, promotion.PhaseVerify, promotion.GateRecovered)
	same(w, "verdict", gate.Verdict, promotion.Pass)
	w.contains("the audit", strings.Join(w.audited(p.ID), "\n"), "promotion.verified")
}

func TestARollbackThatDoesNotRecoverHasFailed(t *testing.T) {
	w := newProdWorld(t)
	errors := w.measures()
	errors.Store("0.75")
	p := w.rollsBackToRecover(promotion.Enforce)
	w.pass(5 * time.Minute)
	w.is(p.ID, promotion.StateLive)
	w.contains("what it waits for", w.promotion(p.ID).WaitsFor, "Not recovered yet", "as high as 0.75")

	errors.Store("") // what is not known has not recovered
	w.pass(time.Minute)
	w.is(p.ID, promotion.StateLive)
	w.contains("what it waits for", w.promotion(p.ID).WaitsFor, "is not known", "503")
	errors.Store("0.75")
	w.pass(4 * time.Minute)
	w.is(p.ID, promotion.StateFailed)
	w.contains("why", w.promotion(p.ID).Failure, "healthy", "has not recovered: errors below 0.5 for 5m")
	gate := w.gate(p.ID, promotion.PhaseVerify, promotion.GateRecovered)
	w.contains("the gate", gate.Reason, "Still broken", "0.75")
	followed := w.timesAudited(p.ID, "promotion.followed")
	errors.Store("0.76")
	w.pass(time.Minute)
	w.lookAtEverything()
	same(w, "times it was said to have failed", w.timesAudited(p.ID, "promotion.followed"), followed)

	errors.Store("0.1")
	w.pass(time.Minute)
	w.lookAtEverything()
	w.is(p.ID, promotion.StateVerified)
	same(w, "failure", w.promotion(p.ID).Failure, "")
}

// A rollback whose pods break while it is waited for starts anew when they are healthy.
func TestRecoveryIsCountedFromTheLastTimeItIsLive(t *testing.T) {
	w := newProdWorld(t)
	errors := w.measures()
	errors.Store("0.1")
	p := w.rollsBackToRecover(promotion.Enforce)
	w.pass(4 * time.Minute)
	w.sees("web", "prod", health(promotion.Degraded, "it crashes"))
	w.is(p.ID, promotion.StateFailed)
	w.pass(2 * time.Minute)
	w.sees("web", "prod", healthy)
	w.is(p.ID, promotion.StateLive)
	w.pass(4 * time.Minute)
	w.is(p.ID, promotion.StateLive)
	w.pass(time.Minute)
	w.is(p.ID, promotion.StateVerified)
}

func TestRecoveryMayOnlyBeReported(t *testing.T) {
	w := newProdWorld(t)
	errors := w.measures()
	errors.Store("0.75")
	p := w.rollsBackToRecover(promotion.Report)
	w.pass(soak)
	w.is(p.ID, promotion.StateVerified)
	same(w, "verdict", w.gate(p.ID, promotion.PhaseVerify, promotion.GateRecovered).Verdict, promotion.Wait)
}
