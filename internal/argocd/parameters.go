package argocd

import (
	"errors"
	"fmt"

	k8syaml "sigs.k8s.io/yaml"
)

// kind names what a generator asks.
func (g Generator) kind() string {
	var kinds []string
	for name, there := range map[string]bool{
		"list": g.List != nil, "git": g.Git != nil, "clusters": g.Clusters != nil, "matrix": g.Matrix != nil, "merge": g.Merge != nil,
	} {
		if there {
			kinds = append(kinds, name)
		}
	}
	if kinds = append(kinds, g.Others...); len(kinds) != 1 {
		return ""
	}
	return kinds[0]
}

// template is what the generator lays over its set's template.
func (g Generator) template() map[string]any {
	switch {
	case g.List != nil:
		return g.List.Template
	case g.Git != nil:
		return g.Git.Template
	case g.Clusters != nil:
		return g.Clusters.Template
	case g.Matrix != nil:
		return g.Matrix.Template
	case g.Merge != nil:
		return g.Merge.Template
	}
	return nil
}

// parameters gives a generator's sets of parameters: nested with goTemplate,
// otherwise texts named by their paths.
func (e *expander) parameters(g Generator) ([]map[string]any, error) {
	var sets []map[string]any
	var err error
	switch g.kind() {
	case "":
		return nil, errors.New("it has not exactly one kind")
	case "list":
		sets, err = e.list(*g.List)
	case "git":
		sets, err = e.git(*g.Git)
	case "clusters":
		sets, err = e.clusters(*g.Clusters)
	case "matrix":
		sets, err = e.matrix(*g.Matrix)
	case "merge":
		sets, err = e.merge(*g.Merge)
	case "scmProvider", "pullRequest", "plugin", "clusterDecisionResource":
		return nil, errors.New("it asks a server, which is not done here")
	default:
		return nil, errors.New("this kind is not known here")
	}
	if err == nil && len(sets) > maxSets {
		err = fmt.Errorf("it gives more than %d sets of parameters", maxSets)
	}
	if err != nil {
		return nil, err
	}
	return e.selected(g.Selector, sets)
}

func (e *expander) selected(s *Selector, sets []map[string]any) ([]map[string]any, error) {
	if s == nil {
		return sets, nil
	}
	var kept []map[string]any
	for _, parameters := range sets {
		ok, err := s.matches(flat(parameters))
		if err != nil {
			return nil, err
		}
		if ok {
			kept = append(kept, parameters)
		}
	}
	return kept, nil
}

// shape makes nested parameters what the set's templates want.
func (e *expander) shape(nested map[string]any) map[string]any {
	if e.set.GoTemplate {
		return nested
	}
	texts := map[string]any{}
	for name, text := range flat(nested) {
		texts[name] = text
	}
	return texts
}

// add puts a generator's own values among the parameters, filled in with them.
func (e *expander) add(values map[string]string, parameters map[string]any) error {
	if len(values) == 0 {
		return nil
	}
	filled := map[string]any{}
	for name, value := range values {
		text, err := e.filler.text(value, parameters)
		if err != nil {
			return err
		}
		filled[name] = text
	}
	if e.set.GoTemplate {
		parameters["values"] = filled
		return nil
	}
	for name, text := range filled {
		parameters["values."+name] = text
	}
	return nil
}

func (e *expander) list(l List) ([]map[string]any, error) {
	elements := l.Elements
	if l.ElementsYAML != "" {
		var more []map[string]any
		if err := k8syaml.Unmarshal([]byte(l.ElementsYAML), &more); err != nil {
			return nil, errors.New("its elementsYaml is no list of objects")
		}
		elements = append(elements[:len(elements):len(elements)], more...)
	}
	sets := make([]map[string]any, len(elements))
	for i, element := range elements {
		if name := notText(element); name != "" && !e.set.GoTemplate {
			return nil, fmt.Errorf("its element %d has a %s that is not text, which needs goTemplate: true", i+1, name)
		}
		sets[i] = e.shape(element)
	}
	return sets, nil
}

// notText finds what Argo CD does not take in a list without goTemplate.
func notText(element map[string]any) string {
	for name, value := range element {
		if values, isMap := value.(map[string]any); isMap && name == "values" {
			if inner := notText(values); inner != "" {
				return inner
			}
		} else if _, isText := value.(string); !isText {
			return name
		}
	}
	return ""
}

func (e *expander) clusters(c Clusters) ([]map[string]any, error) {
	if e.known.Clusters == nil {
		return nil, errors.New("which clusters Argo CD knows is not known here")
	}
	sets := []map[string]any{}
	for _, cluster := range e.known.Clusters {
		ok, err := c.Selector.matches(cluster.Labels)
		if err != nil {
			return nil, err
		}
		// The local cluster without a Secret has no labels that a selector could match.
		if !ok || cluster.Labels == nil && !c.Selector.empty() {
			continue
		}
		parameters := e.shape(cluster.parameters())
		if err := e.add(c.Values, parameters); err != nil {
			return nil, err
		}
		sets = append(sets, parameters)
	}
	if c.FlatList && !e.set.GoTemplate {
		return nil, errors.New("flatList needs goTemplate: true")
	}
	if c.FlatList {
		return []map[string]any{{"clusters": sets}}, nil
	}
	return sets, nil
}

func (c Cluster) parameters() map[string]any {
	metadata := map[string]any{}
	if len(c.Labels) > 0 {
		metadata["labels"] = c.Labels
	}
	if len(c.Annotations) > 0 {
		metadata["annotations"] = c.Annotations
	}
	return map[string]any{
		"name": c.Name, "nameNormalized": normalize(c.Name), "server": c.Server, "project": c.Project, "metadata": metadata,
	}
}
