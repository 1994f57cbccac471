package scenario_test

import (
	"fmt"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/rollback"
)

// BenchmarkVerdict judges 50 releases, each by all three ways (by revert as far as later changes let it), with what lies between in the database: by a server that was just
// started, and by one that has just done so. What it takes to ask the registry for the same images, one after another and for
// nothing else, is there to compare with.
func BenchmarkVerdict(b *testing.B) {
	w := newWorldOf(b, func(map[string][]byte) {})
	w.connects(answering{platforms: []string{platform}})
	for i := range promotion.MostCandidates + 1 {
		r := w.request(fmt.Sprintf("2.%d.0", i), "web")
		r.Migrations = plain(files(parcels, addsTracking))
		out := w.posts(r)
		w.settle()
		w.verifies(out.Promotions[0].ID)
	}
	var candidates []promotion.RollbackCandidate
	judges := func(b *testing.B) {
		check, err := w.service.CheckRollback(b.Context(), promotion.RollbackRequest{Application: "web", Environment: "dev", Limit: promotion.MostCandidates})
		if err != nil || len(check.Candidates) != promotion.MostCandidates {
			b.Fatal(len(check.Candidates), err)
		}
		candidates = check.Candidates
	}
	cost := func(b *testing.B) {
		undone := 0
		for _, c := range candidates {
			if c.Undo.Problem == "" && c.Undo.Verdict.Way == promotion.Revert {
				undone++
			}
		}
		b.ReportMetric(float64(undone), "reverts")
		b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N*promotion.MostCandidates), "ms/candidate")
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			w.restarts()
			b.StartTimer()
			judges(b)
		}
		cost(b)
	})
	for _, c := range candidates {
		if v := c.Images.Verdict; v.Predicates.ArtifactAvailable.Value != rollback.Yes || v.Predicates.ConfigCompatible.Value != rollback.Yes {
			b.Fatalf("%s: %+v, unread %v", c.Release.Version, v, c.Images.Unread)
		}
	}
	b.Run("cached", func(b *testing.B) {
		judges(b) // and fills what is kept
		for b.Loop() {
			judges(b)
		}
		cost(b)
	})
	b.Run("images-alone", func(b *testing.B) {
		for b.Loop() {
			for _, c := range candidates {
				if _, err := w.images.client.Image(b.Context(), c.Release.Artifacts[0].Reference()); err != nil {
					b.Fatal(err)
				}
			}
		}
		cost(b)
	})
}
