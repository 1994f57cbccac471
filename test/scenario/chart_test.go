package scenario_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

const chartOverlay = "apps/catalog/overlays/%s/Chart.yaml"

// pinsCharts has catalog's overlays pin the version of its chart, of which the repository holds two: as tagged ones do that
// Argo CD would download.
func pinsCharts(files map[string][]byte) {
	for name, data := range files {
		inChart, ok := strings.CutPrefix(name, "apps/catalog/chart/")
		if !ok {
			continue
		}
		delete(files, name)
		newer := data
		switch inChart {
		case "Chart.yaml":
			newer = []byte(strings.Replace(string(data), "version: 0.3.0", "version: 0.4.0", 1))
		case "templates/service.yaml":
			newer = []byte(strings.Replace(string(data), "spec:", "  annotations: {chart: new}\nspec:", 1))
		}
		files["apps/catalog/charts/catalog-0.3.0/"+inChart], files["apps/catalog/charts/catalog-0.4.0/"+inChart] = data, newer
	}
	for _, environment := range []string{"dev", "staging", "prod"} {
		values := "apps/catalog/overlays/" + environment + "/values.yaml"
		files[values] = []byte("catalog:\n  " + strings.ReplaceAll(string(files[values]), "\n", "\n  ") + "\n")
		files[fmt.Sprintf(chartOverlay, environment)] = []byte("apiVersion: v2\r\nname: catalog-" + environment +
			"\r\nversion: 0.0.0\r\ndependencies:\r\n- name: catalog\r\n  version: '0.3.0' # by Sluice\r\n  repository: https://charts.example.test\r\n")
	}
}

func (w *world) postsCatalog(version, chart string) promotion.Release {
	w.Helper()
	r := w.request(version, "catalog")
	if chart != "" {
		r.Charts = []promotion.Chart{{Name: "catalog", Version: chart}}
	}
	out := w.posts(r)
	same(w, "releases of "+version, len(out.Releases), 1)
	w.settle()
	for _, p := range out.Promotions {
		w.verifies(p.ID)
	}
	return out.Releases[0]
}

// charts are a release's charts in words.
func charts(r promotion.Release) string {
	var all []string
	for _, c := range r.Charts {
		text := c.String()
		if c.CarriedFrom != 0 {
			text += fmt.Sprint(" from ", c.CarriedFrom)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func (w *world) pin(environment string) string {
	w.Helper()
	_, after, _ := strings.Cut(w.file(fmt.Sprintf(chartOverlay, environment)), "version: '")
	version, _, _ := strings.Cut(after, "'")
	return version
}

func TestAChartIsPromotedWithItsImage(t *testing.T) {
	w := newWorldOf(t, pinsCharts)
	imported := w.release(w.desired("catalog", "dev").ReleaseID)
	same(w, "the chart of what was imported", charts(imported), "catalog 0.3.0")
	before := w.file(fmt.Sprintf(chartOverlay, "dev"))

	plain := w.postsCatalog("1.1.0", "")
	same(w, "the chart of a release without", charts(plain), "")
	same(w, "dev's pin", w.pin("dev"), "0.3.0")

	first := w.postsCatalog("1.2.0", "0.4.0")
	same(w, "the release's chart", charts(first), "catalog 0.4.0")
	same(w, "dev's Chart.yaml", w.file(fmt.Sprintf(chartOverlay, "dev")), strings.Replace(before, "'0.3.0'", "'0.4.0'", 1))
	same(w, "the release that main has in dev", w.desired("catalog", "dev").ReleaseID, first.ID)
	links, err := w.service.Chain(w.Context(), first.ID)
	w.must(err)
	i := slices.IndexFunc(links, func(l promotion.Link) bool { return l.Name == "release → rendered manifest" })
	w.contains("the chain", links[i].Expected+" "+links[i].Found, "chart catalog 0.4.0")
	same(w, "that link's holding", links[i].Verified, true)

	second := w.postsCatalog("1.3.0", "")
	same(w, "the chart of the next release", charts(second), fmt.Sprintf("catalog 0.4.0 from %d", first.ID))

	id := w.promotes(second, "staging")
	w.is(id, promotion.StateMerged)
	w.verifies(id)
	same(w, "staging's pin", w.pin("staging"), "0.4.0")
	id = w.promotes(second, "prod")
	w.is(id, promotion.StateOpen)
	w.contains("the pull request", w.body(id), "| `catalog` (carried forward) | `0.3.0` | `0.4.0` |")
	w.contains("the gate renders", w.gate(id, promotion.PhaseOpen, promotion.GateRenders).Reason, "catalog 0.3.0 to 0.4.0")
	w.contains("the diff", w.promotion(id).Diff, "annotations")
}

func TestARollbackBringsTheChartBack(t *testing.T) {
	w := newWorldOf(t, func(files map[string][]byte) {
		pinsCharts(files)
		for name := range files {
			if strings.HasPrefix(name, "apps/catalog/overlays/dev/") || strings.HasPrefix(name, "apps/catalog/overlays/staging/") {
				delete(files, name)
			}
		}
	})
	toProd := func(r promotion.Release) int64 {
		id := w.promotes(r, "prod")
		w.approves(ada, id)
		w.merges(rita, id)
		w.verifies(id)
		return id
	}
	old := w.postsCatalog("1.1.0", "0.3.0")
	toProd(old)
	newer := w.postsCatalog("1.1.0", "0.4.0") // the same image
	if newer.ID == old.ID {
		w.Fatal("the same image with another chart is no other release")
	}
	toProd(newer)
	same(w, "prod's pin", w.pin("prod"), "0.4.0")

	r := promotion.GoBackRequest{Application: "catalog", Environment: "prod", Way: promotion.ImagesOnly, To: fmt.Sprint(old.ID), Reason: "the new chart loses pods"}
	plan, err := w.service.PlanRollback(w.Context(), r)
	w.must(err)
	same(w, "files of the plan", len(plan.Change.Files), 1)
	id := w.startsBack(r).ID
	w.approves(ada, id)
	w.merges(rita, id)
	same(w, "prod's pin after the rollback", w.pin("prod"), "0.3.0")
	same(w, "the release that main has", w.desired("catalog", "prod").ReleaseID, old.ID)
	w.verifies(id)
}

// A chart that a person moves by hand is another release, and the containers are those of the one whose chart was applied.
func TestAChartMovedByHandIsAnotherRelease(t *testing.T) {
	w := newWorldOf(t, pinsCharts)
	posted := w.postsCatalog("1.2.0", "0.3.0")
	running := w.desired("catalog", "dev")
	sha := w.edits(fmt.Sprintf(chartOverlay, "dev"), "'0.3.0'", "'0.4.0'")
	byHand := w.release(w.desired("catalog", "dev").ReleaseID)
	same(w, "commit", w.desired("catalog", "dev").Commit.SHA, sha)
	same(w, "origin", byHand.Origin, promotion.FromImport)
	same(w, "its chart", charts(byHand), "catalog 0.4.0")
	same(w, "its image", byHand.Artifacts[0].Digest, posted.Artifacts[0].Digest)

	runs := func() int64 {
		all, err := w.service.Store.DeploymentsOf(w.Context(), w.target("catalog", "dev").ID)
		w.must(err)
		return all[0].ReleaseID
	}
	w.sees("catalog", "dev", synced(running.Commit.SHA), w.running(posted))
	same(w, "what runs before the sync", runs(), posted.ID)
	w.sees("catalog", "dev", synced(sha))
	same(w, "what runs after it", runs(), byHand.ID)

	next := w.postsCatalog("1.3.0", "")
	same(w, "the chart of the next release", charts(next), fmt.Sprintf("catalog 0.4.0 from %d", byHand.ID))
}

func TestChartsOfABuild(t *testing.T) {
	w := newWorldOf(t, pinsCharts)
	good := func() promotion.BuildRequest {
		r := w.request("2.0.0")
		r.Application, r.Charts = "catalog", []promotion.Chart{{Name: "catalog", Version: "0.4.0"}}
		return r
	}
	before := w.content()
	for name, tt := range map[string]struct {
		code, field string
		edit        func(*promotion.BuildRequest)
	}{
		"unknown chart":  {"unknown-chart", "charts[0].name", func(r *promotion.BuildRequest) { r.Charts[0].Name = "catalogue" }},
		"of nobody":      {"missing-application", "application", func(r *promotion.BuildRequest) { r.Application = "" }},
		"of another":     {"unknown-chart", "charts[0].name", func(r *promotion.BuildRequest) { r.Application = "web" }},
		"a range":        {"malformed-chart-version", "charts[0].version", func(r *promotion.BuildRequest) { r.Charts[0].Version = "^0.4.0" }},
		"half a version": {"malformed-chart-version", "charts[0].version", func(r *promotion.BuildRequest) { r.Charts[0].Version = "0.4" }},
		"twice":          {"duplicate-chart", "charts[1].name", func(r *promotion.BuildRequest) { r.Charts = append(r.Charts, r.Charts[0]) }},
		"no name":        {"malformed-chart", "charts[0].name", func(r *promotion.BuildRequest) { r.Charts[0].Name = "" }},
		"nothing":        {"no-artifacts", "artifacts", func(r *promotion.BuildRequest) { r.Charts = nil }},
		"with web's image": {"unknown-chart", "charts[0].name", func(r *promotion.BuildRequest) {
			r.Application, r.Artifacts = "", w.request("2.0.0", "web").Artifacts
		}},
	} {
		r := good()
		tt.edit(&r)
		_, _, err := w.service.RecordBuild(w.Context(), ci, r)
		same(w, name+": field", w.refused(err, tt.code).Field, tt.field)
	}
	w.unchanged(before)

	out := w.posts(good())
	same(w, "the release of a chart alone", charts(out.Releases[0]), "catalog 0.4.0")
	image := out.Releases[0].Artifacts[0]
	same(w, "its image's being carried forward", image.CarriedFrom != 0, true)
	again, created, err := w.service.RecordBuild(w.Context(), ci, good())
	w.must(err)
	same(w, "the same post's being new", created, false)
	same(w, "its build", again.Build.ID, out.Build.ID)
	w.settle()
	w.verifies(out.Promotions[0].ID)
	same(w, "dev's pin", w.pin("dev"), "0.4.0")
}
