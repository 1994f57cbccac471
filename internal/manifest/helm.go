package manifest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/ignore"
)

// defaultKubeVersion is what charts see when nothing else is asked for.
// Helm's own default is 1.20, which most charts refuse.
const defaultKubeVersion = "1.36.0"

// Chart says what to render with Helm.
type Chart struct {
	Path        string   // the chart's folder
	Values      []string // values files over the chart's own; later ones win
	Release     string   // the chart's folder name if empty
	Namespace   string   // "default" if empty
	KubeVersion string   // of the cluster, such as "1.34.1"; a recent one if empty

	shelf string // a folder of the application that keeps charts which others depend on
}

// RenderChart renders a chart as `helm template --include-crds` does, hooks
// included, offline: charts that it depends on must be in its charts folder.
// A chart that makes up random values renders differently each time. The error
// is a *Refusal, or what reading fsys returned.
func RenderChart(fsys fs.FS, c Chart) (Rendered, error) {
	return renderChart(newTree(fsys), c)
}

func renderChart(t *tree, c Chart) (Rendered, error) {
	loaded, values, err := loadValues(t, c)
	if err != nil {
		return Rendered{}, err
	}
	files, err := runTemplates(loaded, values, c)
	if err != nil {
		return Rendered{}, refuse(RenderFailed, c.Path, 0, "helm cannot render the chart: %s", brief(err))
	}
	var objects []Object
	for _, crd := range loaded.CRDObjects() {
		found, err := readObjects(crd.Filename, crd.File.Data)
		if err != nil {
			return Rendered{}, err
		}
		objects = append(objects, found...)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasPrefix(path.Base(name), "_") || path.Base(name) == "NOTES.txt" {
			continue
		}
		found, err := readObjects(name, []byte(files[name]))
		if err != nil {
			return Rendered{}, err
		}
		objects = append(objects, found...)
	}
	return newRendered(objects), nil
}

// loadValues reads a chart and the values over its own.
func loadValues(t *tree, c Chart) (*chart.Chart, map[string]any, error) {
	loaded, err := t.loadChart(c.Path, c.shelf, 0)
	if err != nil {
		return nil, nil, err
	}
	values := map[string]any{}
	for _, file := range c.Values {
		data, err := t.read(file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, refuse(BadValues, file, 0, "there is no such values file")
		} else if err != nil {
			return nil, nil, err
		}
		layer, err := chartutil.ReadValues(bytes.TrimPrefix(data, byteOrderMark))
		if err != nil {
			return nil, nil, refuse(BadValues, file, 0, "not YAML: %v", err)
		}
		values = chartutil.MergeTables(layer, values)
	}
	return loaded, values, nil
}

// loadChart reads a chart folder. Links are followed inside the tree only.
func (t *tree) loadChart(dir, shelf string, depth int) (*chart.Chart, error) {
	real, isDir, err := t.resolve(dir)
	var escape *Refusal
	switch {
	case errors.As(err, &escape):
		return nil, escape
	case err != nil || !isDir:
		return nil, refuse(RenderFailed, path.Clean(dir), 0, "there is no such chart folder")
	}
	rules := ignore.Empty()
	if data, err := t.read(path.Join(real, ignore.HelmIgnore)); err == nil {
		if rules, err = ignore.Parse(bytes.NewReader(data)); err != nil {
			return nil, refuse(RenderFailed, path.Join(real, ignore.HelmIgnore), 0, "%v", err)
		}
	}
	rules.AddDefaults()
	var files []*loader.BufferedFile
	if err := t.chartFiles(real, "", rules, &files); err != nil {
		return nil, err
	}
	loaded, err := loader.LoadFiles(files)
	if err != nil {
		return nil, refuse(RenderFailed, real, 0, "helm cannot load the chart: %s", brief(err))
	}
	if err := t.addNeeds(loaded, real, shelf, depth); err != nil {
		return nil, err
	}
	return loaded, checkChart(loaded, real)
}

// runTemplates gives the rendered files by name. Templates may panic, and so
// may the values they are given.
func runTemplates(c *chart.Chart, values map[string]any, options Chart) (files map[string]string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("helm panicked: %v", p)
		}
	}()
	top, err := topValues(c, values, options)
	if err != nil {
		return nil, err
	}
	return engine.Engine{}.Render(c, top)
}

// topValues are what templates see: the values of all files and charts merged, and what Helm says of itself.
func topValues(c *chart.Chart, values map[string]any, options Chart) (chartutil.Values, error) {
	version, err := chartutil.ParseKubeVersion(cmp.Or(options.KubeVersion, defaultKubeVersion))
	if err != nil {
		return nil, err
	}
	if want := c.Metadata.KubeVersion; want != "" && !chartutil.IsCompatibleRange(want, version.String()) {
		return nil, fmt.Errorf("the chart wants Kubernetes %s, not %s", want, version)
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = *version
	if err := chartutil.ProcessDependenciesWithMerge(c, values); err != nil {
		return nil, err
	}
	return chartutil.ToRenderValues(c, values, chartutil.ReleaseOptions{
		Name:      cmp.Or(options.Release, path.Base(options.Path)),
		Namespace: cmp.Or(options.Namespace, "default"),
		Revision:  1,
		IsInstall: true,
	}, capabilities)
}
