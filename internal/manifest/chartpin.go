package manifest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	k8syaml "sigs.k8s.io/yaml"
)

// exactVersion is one version, where ranges such as ^1.2 or 1.x are many.
var exactVersion = regexp.MustCompile(`^v?[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)

// ChartPin is a chart that an overlay's own Chart.yaml depends on, with the version it asks for.
type ChartPin struct {
	Name    string
	Version string // may be a range
}

// Exact tells whether the pin asks for one version, where a range such as ^1.2 or 1.x asks for any of many.
func (p ChartPin) Exact() bool { return exactVersion.MatchString(p.Version) }

// ChartPins lists the charts that an overlay's own Chart.yaml takes from chart repositories, in its order. Charts of the tree
// itself are none, and neither are those of a file that cannot be read: rendering says so.
func ChartPins(fsys fs.FS, overlay string) []ChartPin {
	t := newTree(fsys)
	dir, layout, err := t.layout(overlay)
	if err != nil || layout != Helm {
		return nil
	}
	data, err := t.read(path.Join(dir, "Chart.yaml"))
	var meta chart.Metadata
	if err != nil || k8syaml.Unmarshal(data, &meta) != nil {
		return nil
	}
	var pins []ChartPin
	for _, need := range meta.Dependencies {
		if need == nil || need.Name == "" || strings.HasPrefix(need.Repository, "file:") {
			continue
		}
		if pin := (ChartPin{need.Name, need.Version}); !slices.Contains(pins, pin) {
			pins = append(pins, pin)
		}
	}
	return pins
}

// SetChartVersion makes an overlay's own Chart.yaml ask for another version of a chart that it depends on; a Chart.lock
// beside it follows. The overlay is rendered before and after, which needs both versions in the tree: as
// <name>-<version>.tgz or a folder of that name in the application's charts folder, or in the overlay's. What else
// the new version renders is for a person to see in the Edit. The error is a *Refusal, or what reading fsys returned.
func SetChartVersion(fsys fs.FS, overlay, name, version string) (Edit, error) {
	if !exactVersion.MatchString(version) {
		return Edit{}, refuse(MutableReference, "", 0, "%q is not one version: give all of it, such as 1.4.2", version)
	}
	t := newTree(fsys)
	dir, layout, err := t.layout(overlay)
	if err != nil {
		return Edit{}, err
	}
	if layout != Helm || !t.isChart(dir) {
		return Edit{}, refuse(NoKustomization, dir, 0, "the folder has no Chart.yaml of its own that could pin a chart")
	}
	file, err := t.values(path.Join(dir, "Chart.yaml"))
	if err != nil {
		return Edit{}, err
	}
	if !within(file.name, dir) {
		return Edit{}, refuse(PathEscape, file.name, 0, "the Chart.yaml of %s is a link to a file of another folder", dir)
	}
	steps, err := dependencyVersion(file, name)
	if err != nil {
		return Edit{}, err
	}
	data, err := file.put(steps, version, "")
	if err != nil {
		return Edit{}, err
	}
	edit := Edit{NoOp: bytes.Equal(data, file.data)}
	if edit.Before, err = renderLayout(t, dir, Helm); err != nil || edit.NoOp {
		edit.After = edit.Before
		return edit, err
	}
	edit.Files = map[string][]byte{file.name: data}
	lock, err := t.relocked(dir, name, version, data)
	if err != nil {
		return Edit{}, err
	}
	maps.Copy(edit.Files, lock)
	if edit.After, err = renderLayout(t.edited(edit.Files), dir, Helm); err != nil {
		return Edit{}, err
	}
	return edit, nil
}

// dependencyVersion finds the place of a dependency's version in a Chart.yaml or Chart.lock.
func dependencyVersion(file *source, name string) ([]string, error) {
	root, _ := content(file.root()).(map[string]any)
	needs, _ := root["dependencies"].([]any)
	var found []string
	for i, need := range needs {
		fields, _ := need.(map[string]any)
		switch {
		case fields["name"] != name:
			continue
		case found != nil:
			return nil, refuse(AmbiguousImage, file.name, 0, "the file depends on the chart %s more than once", name)
		}
		found = []string{"dependencies", strconv.Itoa(i), "version"}
	}
	if found == nil {
		return nil, refuse(PathNotFound, file.name, 0, "the file does not depend on a chart %s", name)
	}
	return found, nil
}

// relocked gives the Chart.lock that goes with an edited Chart.yaml: Helm refuses to fetch what its digest does not match.
// `generated` stays, since it says nothing that is checked.
func (t *tree) relocked(dir, name, version string, chartFile []byte) (map[string][]byte, error) {
	at := path.Join(dir, "Chart.lock")
	if _, err := t.read(at); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	file, err := t.values(at)
	if err != nil {
		return nil, err
	}
	steps, err := dependencyVersion(file, name)
	if err != nil {
		return nil, err
	}
	data, err := file.put(steps, version, "")
	if err != nil {
		return nil, err
	}
	var meta chart.Metadata
	var lock chart.Lock
	if err := k8syaml.Unmarshal(chartFile, &meta); err != nil {
		return nil, refuse(BadValues, path.Join(dir, "Chart.yaml"), 0, "not a chart: %v", err)
	}
	if err := k8syaml.Unmarshal(data, &lock); err != nil {
		return nil, refuse(BadValues, file.name, 0, "not a chart's lock: %v", err)
	}
	digest, err := lockDigest(meta.Dependencies, lock.Dependencies)
	if err != nil {
		return nil, refuse(BadValues, file.name, 0, "not a chart's lock: %v", err)
	}
	next := mustParse(file.name, data)
	next.bad = BadValues
	if data, err = next.put([]string{"digest"}, digest, ""); err != nil {
		return nil, err
	}
	return map[string][]byte{file.name: data}, nil
}

// lockDigest is Helm's hash of what a chart asks for and what was locked. Source: HashReq in helm.sh/helm/v3/internal/resolver.
func lockDigest(asked, locked []*chart.Dependency) (string, error) {
	data, err := json.Marshal([2][]*chart.Dependency{asked, locked})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}
