package manifest

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
)

// addNeeds completes a chart with those it depends on: in exactly the version that it asks for, from its own charts folder,
// from a folder that it names with file://, or from the application's shelf. Nothing is ever downloaded.
func (t *tree) addNeeds(c *chart.Chart, dir, shelf string, depth int) error {
	if depth > maxChartDepth {
		return refuse(TooLarge, dir, 0, "charts depend on each other more than %d deep", maxChartDepth)
	}
	for _, need := range c.Metadata.Dependencies {
		if need == nil || hasChart(c, need) {
			continue
		}
		found, err := t.findNeed(need, dir, shelf, depth)
		if err != nil {
			return err
		}
		if found == nil || !satisfies(found, need) {
			return refuse(UnsupportedPlugin, path.Join(dir, "Chart.yaml"), 0,
				"the chart %s %s would have to be downloaded: put it into the charts folder", need.Name, need.Version)
		}
		c.AddDependency(found)
	}
	return nil
}

func hasChart(c *chart.Chart, need *chart.Dependency) bool {
	for _, sub := range c.Dependencies() {
		if satisfies(sub, need) {
			return true
		}
	}
	return false
}

func satisfies(c *chart.Chart, need *chart.Dependency) bool {
	return c.Name() == need.Name && (need.Version == "" || chartutil.IsCompatibleRange(need.Version, c.Metadata.Version))
}

// findNeed reads a chart that is not in the charts folder; nil when it is nowhere in the tree.
func (t *tree) findNeed(need *chart.Dependency, dir, shelf string, depth int) (*chart.Chart, error) {
	if folder, ok := strings.CutPrefix(need.Repository, "file://"); ok {
		if path.IsAbs(folder) {
			return nil, refuse(PathEscape, path.Join(dir, "Chart.yaml"), 0, "%s leaves the repository", folder)
		}
		return t.loadChart(path.Join(dir, folder), shelf, depth+1)
	}
	if shelf == "" || strings.Contains(need.Name, "/") {
		return nil, nil
	}
	at := path.Join(shelf, need.Name+"-"+need.Version)
	if t.isChart(at) {
		return t.loadChart(at, shelf, depth+1)
	}
	data, err := t.read(at + ".tgz")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if err := checkArchive(at+".tgz", data, 0); err != nil {
		return nil, err
	}
	packed, err := loader.LoadArchive(bytes.NewReader(data))
	if err != nil {
		return nil, refuse(RenderFailed, at+".tgz", 0, "helm cannot load the chart: %s", brief(err))
	}
	return packed, nil
}
