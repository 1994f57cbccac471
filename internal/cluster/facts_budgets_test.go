package cluster_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/sluicehq/sluice/internal/promotion"
)

const byHand = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec: {replicas: 3, updateStrategy: {type: OnDelete}, selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db, tier: data}}}}
`

// budgetFor is a PodDisruptionBudget of the namespace shop.
func budgetFor(name, selector string) string {
	return "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: " + name + ", namespace: shop, generation: 1}\nspec: {minAvailable: 3" + selector + "}"
}

func reckoned(allowed string) string {
	return "\nstatus: {observedGeneration: 1, disruptionsAllowed: " + allowed + "}\n"
}

// askedOfDB asks about a workload whose pods are replaced as the strategy says.
func askedOfDB(strategy string) promotion.Needs {
	return promotion.Needs{Workloads: []promotion.Workload{{Kind: "StatefulSet", Name: "db", Strategy: strategy}}}
}

func TestHowManyPodsMayBeEvicted(t *testing.T) {
	t.Parallel()
	some := func(n int) *int { return &n }
	const matching = ", selector: {matchLabels: {app: db}}"
	for name, test := range map[string]struct {
		budgets []string
		want    promotion.Evictions
	}{
		"no budget":                     {nil, promotion.Evictions{Allowed: some(3)}},
		"one that allows none":          {[]string{budgetFor("db", matching) + reckoned("0")}, promotion.Evictions{Allowed: some(0), Budget: "db"}},
		"one that allows one":           {[]string{budgetFor("db", matching) + reckoned("1")}, promotion.Evictions{Allowed: some(1), Budget: "db"}},
		"one for other pods":            {[]string{budgetFor("web", ", selector: {matchLabels: {app: web}}") + reckoned("0")}, promotion.Evictions{Allowed: some(3)}},
		"one by an expression":          {[]string{budgetFor("db", ", selector: {matchExpressions: [{key: tier, operator: In, values: [data]}]}") + reckoned("0")}, promotion.Evictions{Allowed: some(0), Budget: "db"}},
		"one for all pods":              {[]string{budgetFor("all", ", selector: {}") + reckoned("0")}, promotion.Evictions{Allowed: some(0), Budget: "all"}},
		"one for none":                  {[]string{budgetFor("none", "") + reckoned("0")}, promotion.Evictions{Allowed: some(3)}},
		"two, which evict nothing":      {[]string{budgetFor("b", matching) + reckoned("1"), budgetFor("a", matching) + reckoned("1")}, promotion.Evictions{Allowed: some(0), Budget: "a and b"}},
		"one that was not reckoned yet": {[]string{budgetFor("db", matching)}, promotion.Evictions{Budget: "db"}},
		"one that was altered since":    {[]string{budgetFor("db", matching) + strings.Replace(reckoned("1"), "observedGeneration: 1", "observedGeneration: 0", 1)}, promotion.Evictions{Budget: "db"}},
		"a selector that is none":       {[]string{budgetFor("db", ", selector: {matchExpressions: [{key: tier, operator: Near}]}") + reckoned("1")}, promotion.Evictions{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := apiServer(t, append(append([]string{byHand}, test.budgets...), shop...)...)
				f := factsOf(t, client, askedOfDB("OnDelete"))
				if diff := cmp.Diff(map[string]promotion.Evictions{"StatefulSet/db": test.want}, f.Evictions); diff != "" {
					t.Errorf("%s\nunread: %s", diff, strings.Join(f.Unread, "; "))
				}
			})
		})
	}
}

// TestBudgetsThatMayNotBeRead: nothing is known, and the cause is told. Of a rollout nobody asks.
func TestBudgetsThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := &failing{Interface: apiServer(t, append([]string{byHand}, shop...)...), only: map[string]bool{"poddisruptionbudgets": true},
			fail: func(context.Context) error {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "poddisruptionbudgets"}, "", errors.New("rbac"))
			}}
		const cause = "the disruption budgets of namespace shop could not be read: Sluice may not read it there"
		c := watchServed(t, client, served)
		for strategy, told := range map[string]bool{"OnDelete": true, "RollingUpdate": false} {
			f := c.Facts(t.Context(), webProdKey, askedOfDB(strategy))
			if len(f.Evictions) > 0 || strings.Contains(strings.Join(f.Unread, "\n"), cause) != told {
				t.Errorf("%s: %v, unread: %q", strategy, f.Evictions, f.Unread)
			}
		}
	})
}
