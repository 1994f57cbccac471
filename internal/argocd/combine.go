package argocd

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// filled is the generator with the parameters of another one filled in.
func (e *expander) filled(g Generator, parameters map[string]any) (Generator, error) {
	raw, err := e.filler.object(g.raw, parameters)
	if err != nil {
		return Generator{}, err
	}
	data, err := json.Marshal(raw)
	if err != nil {
		return Generator{}, err
	}
	var next Generator
	if err := json.Unmarshal(data, &next); err != nil {
		return Generator{}, brief(err)
	}
	return next, nil
}

// matrix gives each set of the first generator with each of the second, which
// may use the parameters of the first. Where both have a name, the first's stays.
func (e *expander) matrix(c Combined) ([]map[string]any, error) {
	if len(c.Generators) != 2 {
		return nil, errors.New("a matrix takes two generators")
	}
	first, err := e.inner(c.Generators[0])
	if err != nil {
		return nil, err
	}
	var sets []map[string]any
	for _, a := range first {
		g, err := e.filled(c.Generators[1], a)
		if err != nil {
			return nil, err
		}
		second, err := e.inner(g)
		if err != nil {
			return nil, err
		}
		if len(sets)+len(second) > maxSets {
			return nil, fmt.Errorf("it gives more than %d sets of parameters", maxSets)
		}
		for _, b := range second {
			if !e.set.GoTemplate {
				if name := contradiction(a, b); name != "" {
					return nil, fmt.Errorf("both of its generators give %s, with different values", name)
				}
			}
			sets = append(sets, over(a, b))
		}
	}
	return sets, nil
}

func (e *expander) inner(g Generator) ([]map[string]any, error) {
	sets, err := e.parameters(g)
	if err != nil {
		return nil, fmt.Errorf("its generator %s: %w", g.kind(), err)
	}
	return sets, nil
}

// contradiction finds a text that two sets differ in.
func contradiction(a, b map[string]any) string {
	for name, value := range a {
		if other, both := b[name]; both && other != value {
			return name
		}
	}
	return ""
}

// merge gives the sets of the first generator, with those of the others over them
// that have the same values under the merge keys.
func (e *expander) merge(c Combined) ([]map[string]any, error) {
	if len(c.Generators) < 2 || len(c.MergeKeys) == 0 {
		return nil, errors.New("a merge takes at least two generators and one merge key")
	}
	base, err := e.inner(c.Generators[0])
	if err != nil {
		return nil, err
	}
	if _, err := byKeys(c.MergeKeys, base); err != nil {
		return nil, err
	}
	for _, g := range c.Generators[1:] {
		sets, err := e.inner(g)
		if err != nil {
			return nil, err
		}
		byKey, err := byKeys(c.MergeKeys, sets)
		if err != nil {
			return nil, err
		}
		for i, parameters := range base {
			if upper, found := byKey[keyOf(c.MergeKeys, parameters)]; found {
				base[i] = over(upper, parameters)
			}
		}
	}
	return base, nil
}

func byKeys(keys []string, sets []map[string]any) (map[string]map[string]any, error) {
	index := make(map[string]map[string]any, len(sets))
	for _, parameters := range sets {
		key := keyOf(keys, parameters)
		if _, twice := index[key]; twice {
			return nil, fmt.Errorf("two sets of parameters have the same %s", strings.Join(keys, ", "))
		}
		index[key] = parameters
	}
	return index, nil
}

func keyOf(keys []string, parameters map[string]any) string {
	values := make([]any, len(keys))
	for i, key := range keys {
		values[i] = parameters[key]
	}
	data, err := json.Marshal(values)
	if err != nil {
		panic(fmt.Sprintf("argocd: parameters are not JSON: %v", err))
	}
	return string(data)
}
