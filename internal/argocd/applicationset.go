package argocd

import (
	"encoding/json"
	"slices"

	"go.yaml.in/yaml/v3"
)

// ApplicationSet makes an Application of its template for each set of parameters
// that its generators give.
type ApplicationSet struct {
	Name, Namespace     string
	Labels, Annotations map[string]string
	Place

	GoTemplate        bool
	GoTemplateOptions []string
	Generators        []Generator
	Template          map[string]any // of an Application, its strings not yet filled in
	TemplatePatch     string         // merged over the filled-in Template, as YAML or a JSON patch

	node *yaml.Node
}

// LineOf is the line of a field, or of the innermost one around it that is there.
func (s ApplicationSet) LineOf(field ...string) int { return lineOf(s.node, s.Line, field) }

// Generator gives sets of parameters. One of the pointers is set, or Others
// names what asks a server, such as scmProvider.
type Generator struct {
	List     *List     `json:"list"`
	Git      *Git      `json:"git"`
	Clusters *Clusters `json:"clusters"`
	Matrix   *Combined `json:"matrix"`
	Merge    *Combined `json:"merge"`
	Selector *Selector `json:"selector"` // keeps only the parameters that it matches
	Others   []string  `json:"-"`

	raw map[string]any // as it was read, to fill parameters of another generator in
}

// List gives its elements.
type List struct {
	Elements     []map[string]any `json:"elements"`
	ElementsYAML string           `json:"elementsYaml"`
	Template     map[string]any   `json:"template"`
}

// Git gives a set of parameters for each of a repository's folders or for each
// object in some of its files.
type Git struct {
	RepoURL         string            `json:"repoURL"`
	Revision        string            `json:"revision"`
	Directories     []GitPath         `json:"directories"`
	Files           []GitPath         `json:"files"`
	PathParamPrefix string            `json:"pathParamPrefix"`
	Values          map[string]string `json:"values"`
	Template        map[string]any    `json:"template"`
}

// GitPath is a pattern of paths to take, or to leave out.
type GitPath struct {
	Path    string `json:"path"`
	Exclude bool   `json:"exclude"`
}

// Clusters gives the clusters that Argo CD knows.
type Clusters struct {
	Selector *Selector         `json:"selector"`
	Values   map[string]string `json:"values"`
	FlatList bool              `json:"flatList"`
	Template map[string]any    `json:"template"`
}

// Combined puts the parameters of several generators together: each with each
// (matrix), or those with the same values under MergeKeys (merge).
type Combined struct {
	Generators []Generator    `json:"generators"`
	MergeKeys  []string       `json:"mergeKeys"`
	Template   map[string]any `json:"template"`
}

// UnmarshalJSON keeps what was read.
func (g *Generator) UnmarshalJSON(data []byte) error {
	type plain Generator
	if err := json.Unmarshal(data, (*plain)(g)); err != nil {
		return err
	}
	if err := json.Unmarshal(data, &g.raw); err != nil {
		return err
	}
	g.Others = nil
	for name, value := range g.raw {
		switch name {
		case "list", "git", "clusters", "matrix", "merge", "selector":
		default:
			if value != nil {
				g.Others = append(g.Others, name)
			}
		}
	}
	slices.Sort(g.Others)
	return nil
}
