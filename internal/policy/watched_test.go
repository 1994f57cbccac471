package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/policy"
	"github.com/sluicehq/sluice/internal/promotion"
)

func TestEvidenceThatSluiceSees(t *testing.T) {
	t.Parallel()
	const asked = "environments: {prod: {evidence: [{healthy_for: 24h, environment: staging}, {drift_free_for: 90m, environment: staging}]}}\n"
	for name, test := range map[string]struct {
		own    string
		looser string // part of the fault; empty: it is taken
		want   []promotion.NeededEvidence
	}{
		"nothing of its own": {"", "", []promotion.NeededEvidence{{HealthyFor: 24 * time.Hour, Environment: "staging"}, {DriftFreeFor: 90 * time.Minute, Environment: "staging"}}},
		"for longer": {"environments: {prod: {evidence: [{healthy_for: 48h, environment: staging}, {drift_free_for: 2h, environment: staging}]}}\n", "",
			[]promotion.NeededEvidence{{HealthyFor: 48 * time.Hour, Environment: "staging"}, {DriftFreeFor: 2 * time.Hour, Environment: "staging"}}},
		"for shorter":             {"environments: {prod: {evidence: [{healthy_for: 23h, environment: staging}, {drift_free_for: 2h, environment: staging}]}}\n", "healthy for 24h in staging", nil},
		"in another environment":  {"environments: {prod: {evidence: [{healthy_for: 48h, environment: dev}, {drift_free_for: 2h, environment: staging}]}}\n", "healthy for 24h in staging", nil},
		"of one kind for another": {"environments: {prod: {evidence: [{healthy_for: 48h, environment: staging}]}}\n", "free of drift for 1h30m in staging", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := promotion.PolicyFiles{"sluice.yaml": asked}
			if test.own != "" {
				files["apps/web/sluice.yaml"] = test.own
			}
			rules, err := policy.Reader{}.Parse(files)
			if test.looser != "" {
				if err == nil || !strings.Contains(err.Error(), "looser") || !strings.Contains(err.Error(), test.looser) {
					t.Fatalf("answer is %v, want one that says looser and %s", err, test.looser)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := rules.For(promotion.Target{Application: "web", Environment: "prod", Rank: promotion.RankProd, Path: "apps/web/overlays/prod"}).Evidence
			if len(got) != len(test.want) || got[0] != test.want[0] || got[1] != test.want[1] {
				t.Errorf("asks for %v, want %v", got, test.want)
			}
		})
	}
}

func TestAMetricThatIsAskedFor(t *testing.T) {
	t.Parallel()
	const asked = "environments: {prod: {evidence: [{metric: errors, query: 'sum(errors)', below: 0.01, for: 30m}]}}\n"
	own := func(entry string) promotion.PolicyFiles {
		return promotion.PolicyFiles{"sluice.yaml": asked, "apps/web/sluice.yaml": "environments: {prod: {evidence: [" + entry + "]}}\n"}
	}
	rules, err := policy.Reader{}.Parse(own("{metric: errors, query: 'sum(errors)', below: 0.01, for: 1h}"))
	if err != nil {
		t.Fatal(err)
	}
	want := promotion.NeededEvidence{Name: "errors", Threshold: promotion.Threshold{Query: "sum(errors)", Limit: 0.01, For: time.Hour}}
	got := rules.For(promotion.Target{Application: "web", Environment: "prod", Rank: promotion.RankProd, Path: "apps/web/overlays/prod"}).Evidence
	if len(got) != 1 || got[0] != want {
		t.Errorf("asks for %v, want %v", got, want)
	}
	for _, looser := range []string{
		"{metric: errors, query: 'sum(errors)', below: 0.01, for: 10m}",
		"{metric: errors, query: 'sum(errors)', below: 0.5, for: 30m}",
		"{metric: errors, query: 'sum(errors)', above: 0.01, for: 30m}",
		"{metric: errors, query: 'sum(other)', below: 0.01, for: 30m}",
		"errors",
	} {
		if _, err := (policy.Reader{}).Parse(own(looser)); err == nil || !strings.Contains(err.Error(), "looser") {
			t.Errorf("%s: answer is %v, want that it is looser", looser, err)
		}
	}
}
