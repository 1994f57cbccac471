package manifest

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/strvals"
)

// HelmAdditions are what an Application adds to a chart, in the order in which
// they win: value files, Values, Parameters, text parameters, FileParameters.
type HelmAdditions struct {
	Release, Namespace string
	ValueFiles         []string // relative to the tree's root; later ones win
	IgnoreMissing      bool     // value files
	Values             map[string]any
	Parameters         []HelmParameter
	FileParameters     []HelmFileParameter
	SkipCRDs           bool
	SkipTests          bool
	KubeVersion        string // of the cluster, such as "1.34.1"; a recent one if empty
}

// HelmParameter sets one value, as --set does, or --set-string with Text.
type HelmParameter struct {
	Name, Value string
	Text        bool
}

// HelmFileParameter sets one value to the content of a file, as --set-file does.
type HelmFileParameter struct {
	Name, File string // File is relative to the tree's root
}

// addedValues stands in messages for the file that the values are given in.
const addedValues = "the Application's Helm values"

func (a HelmAdditions) render(t *tree, dir string) (Rendered, error) {
	c := Chart{
		Path: dir, Release: a.Release, Namespace: a.Namespace, KubeVersion: a.KubeVersion,
		shelf: path.Join(applicationOf(dir), "charts"),
	}
	for _, file := range a.ValueFiles {
		if _, _, err := t.resolve(file); errors.Is(err, fs.ErrNotExist) && a.IgnoreMissing {
			continue
		}
		c.Values = append(c.Values, file)
	}
	loaded, values, err := loadValues(t, c)
	if err != nil {
		return Rendered{}, err
	}
	if values, err = a.over(t, values); err != nil {
		return Rendered{}, err
	}
	// The merged values are read once more, from a file that is in memory only.
	t.files[addedValues] = canonical(values)
	t.resolved[addedValues] = resolution{path: addedValues}
	c.Values = []string{addedValues}
	rendered, err := renderChart(t, c)
	if err != nil {
		return Rendered{}, err
	}
	skipped := map[ID]bool{}
	if a.SkipCRDs {
		for _, crd := range loaded.CRDObjects() {
			objects, err := readObjects(crd.Filename, crd.File.Data)
			if err != nil {
				return Rendered{}, err
			}
			for _, object := range objects {
				skipped[object.ID] = true
			}
		}
	}
	rendered.Objects = slices.DeleteFunc(rendered.Objects, func(o Object) bool {
		return skipped[o.ID] || a.SkipTests && isHelmTest(o)
	})
	return rendered, nil
}

// over lays values and parameters over those of the files.
func (a HelmAdditions) over(t *tree, values map[string]any) (map[string]any, error) {
	if own, isMap := copyOf(a.Values).(map[string]any); isMap {
		values = chartutil.MergeTables(own, values)
	}
	for _, asText := range []bool{false, true} {
		parse := strvals.ParseInto
		if asText {
			parse = strvals.ParseIntoString
		}
		for _, p := range a.Parameters {
			if p.Text != asText {
				continue
			}
			if err := parse(p.Name+"="+escapeCommas(p.Value), values); err != nil {
				return nil, refuse(BadValues, "", 0, "the Application's helm parameter %s: %v", p.Name, err)
			}
		}
	}
	for _, p := range a.FileParameters {
		read := func(name []rune) (any, error) {
			data, err := t.read(string(name))
			return string(data), err
		}
		if err := strvals.ParseIntoFile(p.Name+"="+escapeCommas(p.File), values, read); err != nil {
			var r *Refusal
			if errors.As(err, &r) {
				return nil, r
			}
			return nil, refuse(BadValues, p.File, 0, "the Application's helm file parameter %s: %v", p.Name, err)
		}
	}
	return values, nil
}

// copyOf lets Helm change values that are not its own.
func copyOf(value any) any {
	switch value := value.(type) {
	case map[string]any:
		all := make(map[string]any, len(value))
		for key, inner := range value {
			all[key] = copyOf(inner)
		}
		return all
	case []any:
		all := make([]any, len(value))
		for i, inner := range value {
			all[i] = copyOf(inner)
		}
		return all
	}
	return value
}

// escapeCommas keeps --set from taking a value apart, as Argo CD does: what is
// escaped already, and lists in braces, stay.
func escapeCommas(value string) string {
	if strings.HasPrefix(value, "{") && strings.HasSuffix(value, "}") {
		return value
	}
	var out strings.Builder
	var before rune
	for _, r := range value {
		if r == ',' && before != '\\' {
			out.WriteRune('\\')
		}
		out.WriteRune(r)
		before = r
	}
	return out.String()
}

func isHelmTest(o Object) bool {
	metadata, _ := o.Content["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	for hook := range strings.SplitSeq(text(annotations["helm.sh/hook"]), ",") {
		if hook = strings.TrimSpace(hook); hook == "test" || hook == "test-success" || hook == "test-failure" {
			return true
		}
	}
	return false
}
