package policy_test

import (
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

func TestAnApplicationSaysWhetherItHasADatabase(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]promotion.Database{
		"version: 1":         promotion.DatabaseUnsaid,
		"database: none":     promotion.DatabaseNone,
		"database: postgres": promotion.DatabasePostgres,
	} {
		rules := parse(t, promotion.PolicyFiles{ofItsOwn: text})
		if got := rules.For(target("web", "prod")).Database; got != want {
			t.Errorf("%s: web has database %q, want %q", text, got, want)
		}
		if got := rules.For(target("checkout", "prod")).Database; got != promotion.DatabaseUnsaid {
			t.Errorf("%s: checkout has database %q", text, got)
		}
	}
}
