package scenario_test

import (
	"slices"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Who renamed the config repository is written down once, however often the host tells of it.
func TestWhoRenamedTheRepositoryIsAudited(t *testing.T) {
	w := newWorld(t)
	told := promotion.Tidings{Host: "github", Delivery: "72d3162e", Repository: repository,
		Renamed: promotion.Renamed{From: "acme/shop-config", To: "acme/platform", By: ada.Name}}
	for range 2 {
		w.must(w.service.Told(t.Context(), told))
	}
	w.settle()
	got := w.texts("SELECT actor || ': ' || object || ' ' || (before->>'name') || ' ' || (after->>'name') FROM audit_events WHERE action = 'repository.renamed'")
	if want := []string{ada.Name + ": repository/" + repository + " acme/shop-config acme/platform"}; !slices.Equal(got, want) {
		t.Errorf("audited %q, want %q", got, want)
	}
}
