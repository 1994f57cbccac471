package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	k8syaml "sigs.k8s.io/yaml"
)

// helmTarget is a folder that Helm renders: a chart, and the values that make it one environment's.
type helmTarget struct {
	dir    string      // the folder, resolved
	chart  Chart       // with all values files
	own    []string    // values files of the folder itself, resolved, later ones win: the only ones that are edited
	images []HelmImage // declared places
	policy string      // the application's sluice.yaml, which need not exist
}

// helmTarget finds chart and values of a folder: what the application's settings declare, otherwise by convention.
func (t *tree) helmTarget(dir string) (helmTarget, error) {
	application := applicationOf(dir)
	h := helmTarget{dir: dir, policy: path.Join(application, "sluice.yaml")}
	settings, err := t.helmSettings(h.policy)
	if err != nil {
		return helmTarget{}, err
	}
	h.images = settings.Images
	h.chart = Chart{
		Release: settings.Release, Namespace: settings.Namespace, KubeVersion: settings.KubeVersion,
		shelf: path.Join(application, "charts"),
	}
	if settings.Chart != "" {
		h.chart.Path = path.Join(application, settings.Chart)
	} else if h.chart.Path, err = t.findChart(dir, application, h.policy); err != nil {
		return helmTarget{}, err
	}
	if dir != application {
		h.chart.Release = cmp.Or(h.chart.Release, strings.Trim(path.Base(application), "."), path.Base(dir))
	}
	return h, t.findValues(&h, application, settings.Values)
}

// render renders the target without its Helm tests, which nobody deploys.
func (h helmTarget) render(t *tree) (Rendered, error) {
	rendered, err := renderChart(t, h.chart)
	rendered.Objects = slices.DeleteFunc(rendered.Objects, isHelmTest)
	return rendered, err
}

// applicationOf gives the application's folder of an overlay's. A folder that is below no `overlays` is its own.
func applicationOf(dir string) string {
	for at := dir; at != "."; at = path.Dir(at) {
		if path.Base(path.Dir(at)) == "overlays" {
			return path.Dir(path.Dir(at))
		}
	}
	return dir
}

// helmSettings reads the key `helm` and nothing else of a policy file: whether the rest is right is for others to say.
func (t *tree) helmSettings(file string) (HelmSettings, error) {
	data, err := t.read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return HelmSettings{}, nil
	}
	if err != nil {
		return HelmSettings{}, err
	}
	var content struct {
		Helm HelmSettings `json:"helm"`
	}
	if err := k8syaml.Unmarshal(data, &content); err != nil {
		return HelmSettings{}, refuse(BadValues, file, 0, "the Helm settings cannot be read: %v", err)
	}
	return content.Helm, nil
}

// findChart looks where charts usually are.
func (t *tree) findChart(dir, application, policy string) (string, error) {
	for _, folder := range []string{dir, path.Join(application, "chart"), path.Join(application, "base")} {
		if t.isChart(folder) {
			return folder, nil
		}
	}
	below := path.Join(application, "charts")
	names, err := t.list(below)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var found []string
	for _, name := range names {
		if folder := path.Join(below, name); t.isChart(folder) {
			found = append(found, folder)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", refuse(NoKustomization, dir, 0,
			"the folder has Helm values, and neither it nor %s has a chart: say where it is with helm.chart in %s", application, policy)
	}
	return "", refuse(NoKustomization, dir, 0,
		"the folder has Helm values for one of %s: say for which with helm.chart in %s", strings.Join(found, ", "), policy)
}

func (t *tree) isChart(folder string) bool {
	_, isDir, err := t.resolve(path.Join(folder, "Chart.yaml"))
	return err == nil && !isDir
}

// findValues lists the values files in the order in which they are laid over the chart's own.
func (t *tree) findValues(h *helmTarget, application string, declared []string) error {
	var files []string
	for _, name := range declared {
		files = append(files, path.Join(h.dir, name))
	}
	if len(declared) == 0 {
		common := path.Join(application, "values.yaml")
		if _, isDir, err := t.resolve(common); err == nil && !isDir && application != h.dir {
			files = append(files, common)
		}
		overlay, err := t.overlayValues(h, application)
		if err != nil {
			return err
		}
		files = append(files, overlay...)
	}
	h.chart.Values = files
	if h.chart.Path == h.dir {
		// Helm reads a chart's own values by itself, below all others.
		chartsOwn := path.Join(h.dir, "values.yaml")
		if len(declared) == 0 {
			h.chart.Values = slices.DeleteFunc(slices.Clone(files), func(file string) bool { return file == chartsOwn })
		}
		files = append([]string{chartsOwn}, files...)
	}
	for _, file := range files {
		real, isDir, err := t.resolve(file)
		if err == nil && !isDir && within(real, h.dir) && !slices.Contains(h.own, real) {
			h.own = append(h.own, real)
		}
	}
	return nil
}

// overlayValues gives the folder's values files: one, or values.yaml and then the one of the environment. Any other number
// could be meant in another order, or for other tools.
func (t *tree) overlayValues(h *helmTarget, application string) ([]string, error) {
	names, err := t.list(h.dir)
	if err != nil {
		return nil, fmt.Errorf("read folder %s: %w", h.dir, err)
	}
	environment := path.Base(h.dir)
	names = slices.DeleteFunc(names, func(name string) bool { return !isValuesName(name) })
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(len(a), len(b)) }) // values.yaml first
	if h.dir == application {
		names = slices.DeleteFunc(names, func(name string) bool { return name != "values.yaml" })
	}
	ofEnvironment := func(name string) bool {
		stem := strings.TrimSuffix(name, path.Ext(name))
		return stem == "values-"+environment || stem == "values."+environment || stem == "values_"+environment
	}
	if len(names) > 2 || len(names) == 2 && (names[0] != "values.yaml" || !ofEnvironment(names[1])) {
		return nil, refuse(BadValues, h.dir, 0, "the folder has the values files %s: say in which order they apply with helm.values in %s",
			strings.Join(names, ", "), h.policy)
	}
	for i, name := range names {
		names[i] = path.Join(h.dir, name)
	}
	return names, nil
}

// isValuesName tells values files by their name; a schema of values is none.
func isValuesName(name string) bool {
	return strings.HasPrefix(name, "values") && isManifestName(name) && name != "values.schema.json"
}
