package promotion

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A chart that overlays pin by its version is part of a release, as the images are. CI posts the version; until it ever did so
// for an application, the version is configuration, which every overlay keeps as it has it.

// Chart is one version of a chart that overlays take from a chart repository.
type Chart struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

func (c Chart) String() string { return c.Name + " " + c.Version }

// ReleaseChart is a chart of a release. Its name is its identity within the application.
type ReleaseChart struct {
	Chart
	BuildID     int64 // zero for one that was imported
	CarriedFrom int64 // the release it was carried forward from
}

var (
	chartNameForm    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,252}$`)
	chartVersionForm = regexp.MustCompile(`^v?[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
)

func (r BuildRequest) validateCharts() error {
	for i, c := range r.Charts {
		field := fmt.Sprintf("charts[%d].", i)
		switch {
		case !chartNameForm.MatchString(c.Name):
			return invalid("malformed-chart", field+"name", "%s is %q: give the chart's name as the overlays' Chart.yaml has it", field+"name", c.Name)
		case !chartVersionForm.MatchString(c.Version) || len(c.Version) > 128:
			return invalid("malformed-chart-version", field+"version",
				"%s is %q: a range or a part of a version can mean another chart tomorrow. Post all of one version, such as 1.4.2.", field+"version", c.Version)
		case slices.ContainsFunc(r.Charts[:i], func(other Chart) bool { return other.Name == c.Name }):
			return invalid("duplicate-chart", field+"name", "%s is posted twice in one build; post each chart once", c.Name)
		}
	}
	if len(r.Artifacts) == 0 && len(r.Charts) > 0 && r.Application == "" {
		return invalid("missing-application", "application", "say whose charts these are: a chart alone, without an image, may be one that many applications use")
	}
	return nil
}

// ChartsKnown is what is known of the charts of an application.
type ChartsKnown struct {
	Names  []string // that main pins in some environment
	Posted []string // of which CI ever posted a version
	Unread bool     // the pins of some environment with a chart were never read
}

// pins tells whether the application has a chart: main pins it in some environment, or its newest release has it. Pins that were
// never read are no reason to refuse.
func (u use) pins(name string) bool {
	return u.charts.Unread || slices.Contains(u.charts.Names, name) || slices.ContainsFunc(u.newest.Charts, isChart(name))
}

func isChart(name string) func(ReleaseChart) bool {
	return func(c ReleaseChart) bool { return c.Name == name }
}

func unpinnedChart(i int, c Chart, application string) error {
	if application == "" {
		application = "the applications of these images"
	}
	return invalid("unknown-chart", fmt.Sprintf("charts[%d].name", i),
		"no overlay of %s pins the chart %s to one version in a Chart.yaml of its own: check the name", application, c.Name)
}

// assembleCharts completes a release's charts: what was posted, and what CI posted earlier carried forward.
func assembleCharts(base Release, posted map[string]ReleaseChart, u use) []ReleaseChart {
	var charts []ReleaseChart
	for name, c := range posted {
		if u.pins(name) {
			charts = append(charts, c)
		}
	}
	for _, old := range base.Charts {
		_, replaced := posted[old.Name]
		onMain := u.charts.Unread || slices.Contains(u.charts.Names, old.Name)
		if replaced || !onMain || !slices.Contains(u.charts.Posted, old.Name) {
			continue
		}
		if old.CarriedFrom == 0 {
			old.CarriedFrom = base.ID
		}
		charts = append(charts, old)
	}
	slices.SortFunc(charts, func(a, b ReleaseChart) int { return strings.Compare(a.Name, b.Name) })
	return charts
}

// importedCharts are the charts of a release of what main renders.
func importedCharts(pinned []Chart) []ReleaseChart {
	charts := make([]ReleaseChart, len(pinned))
	for i, c := range pinned {
		charts[i].Chart = c
	}
	return charts
}

// chartsOf are a release's charts as an overlay is to pin them.
func chartsOf(r Release) []Chart {
	charts := make([]Chart, len(r.Charts))
	for i, c := range r.Charts {
		charts[i] = c.Chart
	}
	return charts
}

// movedCharts says which pinned charts a change moves, as "web 1.0.0 to 2.0.0"; empty for none.
func (c Change) movedCharts() string {
	var moved []string
	for _, now := range c.After.Charts {
		for _, old := range c.Before.Charts {
			if old.Name == now.Name && old.Version != now.Version {
				moved = append(moved, fmt.Sprintf("%s to %s", old, now.Version))
			}
		}
	}
	return strings.Join(moved, " and ")
}

// chartsLeft says of the charts that a target pins and a release says nothing of that they stay.
func chartsLeft(r Release, pinned []Chart) []string {
	var notes []string
	for _, c := range pinned {
		if !slices.ContainsFunc(r.Charts, isChart(c.Name)) {
			notes = append(notes, fmt.Sprintf("the chart %s stays: release %d (%s) says nothing of its version", c, r.Number, r.Version))
		}
	}
	return notes
}
