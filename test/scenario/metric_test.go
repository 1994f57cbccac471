package scenario_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// metrics answer as the test says.
type metrics struct {
	lowest, highest float64
	err             error
	from, to        time.Time // of the last question
}

func (m *metrics) Over(_ context.Context, _ string, from, to time.Time) (float64, float64, error) {
	m.from, m.to = from, to
	return m.lowest, m.highest, m.err
}

func TestAMetricIsToKeepToALimit(t *testing.T) {
	for name, test := range map[string]struct {
		above, unconnected bool
		m                  metrics
		verdict            promotion.Verdict
		says               string
	}{
		"below":          {m: metrics{lowest: 0, highest: 0.009}, verdict: promotion.Pass, says: "errors below 0.01 for 30m"},
		"at the limit":   {m: metrics{lowest: 0, highest: 0.01}, verdict: promotion.Wait, says: "it was as high as 0.01"},
		"once too high":  {m: metrics{lowest: 0, highest: 0.25}, verdict: promotion.Wait, says: "it was as high as 0.25"},
		"above":          {above: true, m: metrics{lowest: 0.02, highest: 9}, verdict: promotion.Pass, says: "errors above 0.01 for 30m"},
		"once too low":   {above: true, m: metrics{lowest: 0.01, highest: 9}, verdict: promotion.Wait, says: "it was as low as 0.01"},
		"unknown":        {m: metrics{err: errors.New("the query has 2 series")}, verdict: promotion.Block, says: "is not known: the query has 2 series"},
		"nothing to ask": {unconnected: true, verdict: promotion.Block, says: "connected to no Prometheus"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newProdWorld(t)
			if !test.unconnected {
				w.service.Metrics = &test.m
			}
			w.asksOfProd(promotion.NeededEvidence{Name: "errors",
				Threshold: promotion.Threshold{Query: "sum(errors)", Above: test.above, Limit: 0.01, For: 30 * time.Minute}})
			id := w.approvedWhenever("1.1.0")
			gate := w.evidenceGate(id)
			same(w, "verdict", gate.Verdict, test.verdict)
			w.contains("the gate", gate.Reason, test.says)
			_, err := w.service.Merge(w.Context(), rita, id)
			if test.verdict != promotion.Pass {
				w.refused(err, "merge-refused")
			} else {
				w.must(err)
				same(w, "the time asked about", test.m.to.Sub(test.m.from), 30*time.Minute)
			}
			p, err := w.service.Plan(w.Context(), promotion.PlanRequest{Application: "web", Environment: "prod", Release: "1.1.0", At: w.clock.now().Add(48 * time.Hour)})
			w.must(err)
			same(w, "the release planned", p.Release.Version, "1.1.0")
			same(w, "asked about what is to come", test.m.to.After(w.clock.now()), false)
		})
	}
}
