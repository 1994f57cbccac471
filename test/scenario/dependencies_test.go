package scenario_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/rollback"
)

// wordless is a Prometheus that never answers.
type wordless struct{}

func (wordless) Over(ctx context.Context, _ string, _, _ time.Time) (float64, float64, error) {
	<-ctx.Done()
	return 0, 0, ctx.Err()
}

func TestWhatAnApplicationDependsOnIsAskedBeforeItGoesBack(t *testing.T) {
	lag := promotion.NeededEvidence{Name: "lag", Threshold: promotion.Threshold{Query: "max(lag)", Limit: 60, For: 5 * time.Minute}}
	in := func(environment string) promotion.NeededEvidence {
		return promotion.NeededEvidence{Name: "web", Environment: environment}
	}
	for name, test := range map[string]struct {
		needs   promotion.NeededEvidence
		metrics promotion.Metrics
		health  promotion.HealthStatus // of web in staging; empty: nothing was seen
		value   rollback.State         // of the check
		reason  string
		says    string
	}{
		"healthy":          {needs: in("staging"), health: promotion.Healthy, value: rollback.Unchecked},
		"ill":              {needs: in("staging"), health: promotion.Degraded, value: rollback.No, reason: "dependency-not-healthy:web/staging", says: "web in staging is Degraded (web-staging)"},
		"cluster away":     {needs: in("staging"), health: promotion.HealthUnknown, value: rollback.Unknown, reason: "dependency-unread:web/staging", says: "the health of web in staging is not known"},
		"never seen":       {needs: in("staging"), value: rollback.Unknown, reason: "dependency-unread:web/staging", says: "nothing was ever seen to run of web in staging"},
		"no such target":   {needs: in("space"), value: rollback.Unknown, reason: "dependency-unread:web/space", says: "web in space, which the policy says it depends on, is no target"},
		"itself":           {needs: in(""), value: rollback.Unchecked},
		"metric kept":      {needs: lag, metrics: &metrics{highest: 59}, value: rollback.Unchecked},
		"metric broken":    {needs: lag, metrics: &metrics{highest: 60}, value: rollback.No, reason: "dependency-metric-broken:lag", says: "lag below 60 for 5m: it was not"},
		"metric unread":    {needs: lag, metrics: &metrics{err: errors.New("the query has 2 series")}, value: rollback.Unknown, reason: "dependency-metric-unread:lag", says: "the query has 2 series"},
		"metric not asked": {needs: lag, value: rollback.Unknown, reason: "dependency-metric-unread:lag", says: "connected to no Prometheus"},
		"metric silent":    {needs: lag, metrics: wordless{}, value: rollback.Unknown, reason: "dependency-metric-unread:lag", says: "lag below 60 for 5m gave no answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.connects(answering{platforms: []string{platform}})
			w.inDev("1.1.0")
			w.inDev("1.2.0")
			w.service.Metrics, w.service.Patience.Source = test.metrics, soon
			w.policies.change = func(to promotion.Target, p *promotion.EnvironmentPolicy) {
				if to.Environment == "dev" {
					p.Dependencies = []promotion.NeededEvidence{test.needs}
				}
			}
			if test.health != "" {
				w.sees("web", "staging", health(test.health, ""))
			}
			v := w.verdict()
			same(w, "the check", v.Verdict.Predicates.DependencyRecoverable.Value, test.value)
			if said := strings.Join(v.Verdict.Predicates.DependencyRecoverable.Reasons, " "); strings.Contains(said, "unattested") {
				t.Errorf("what the policy does not ask for is called unknown: %s", said)
			}
			if test.reason != "" {
				w.contains("the reasons", strings.Join(v.Verdict.Blocking, " "), test.reason)
				w.contains("what was found", strings.Join(append(v.Unread, v.Notes...), " "), test.says)
			}
			stored, err := w.service.RollbackVerdict(w.Context(), v.ID)
			w.must(err)
			facts, err := json.Marshal(stored.Facts)
			w.must(err)
			offline, err := rollback.Parse(facts)
			w.must(err)
			if diff := cmp.Diff(v.Verdict, rollback.Evaluate(offline)); diff != "" {
				t.Errorf("evaluated again from what is stored (-then +now):\n%s", diff)
			}
		})
	}
}
