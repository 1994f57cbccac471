package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// imagePlace is where values say an image: one text with the whole reference, or its parts. Paths are nil where there is none.
type imagePlace struct {
	reference                             []string
	registry, repository, tag, digest     []string
	registryIs, repositoryIs, tagIs, told string // what the values say; told is the reference or repository
}

// String names the place for people, by what an edit would set.
func (p imagePlace) String() string {
	for _, steps := range [][]string{p.reference, p.digest, p.tag, p.repository} {
		if steps != nil {
			return joinSteps(steps)
		}
	}
	return "values"
}

// findPlaces finds what looks like an image in decoded values: maps with a repository, and texts under `image`. Whether the
// chart uses it is another question.
func findPlaces(values any, steps []string) []imagePlace {
	var found []imagePlace
	switch values := values.(type) {
	case map[string]any:
		for _, name := range []string{"repository", "image"} {
			if p, ok := mapPlace(values, steps, name); ok {
				found = append(found, p)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(values)) {
			if key == "global" && len(steps) > 0 {
				continue // Helm copies the top one into every chart in the chart
			}
			at := append(slices.Clip(steps), key)
			if whole := text(values[key]); whole != "" && (key == "image" || strings.HasSuffix(key, "Image")) {
				found = append(found, imagePlace{reference: at, told: splitReference(whole).repository})
			}
			found = append(found, findPlaces(values[key], at)...)
		}
	case []any:
		for i, item := range values {
			found = append(found, findPlaces(item, append(slices.Clip(steps), strconv.Itoa(i)))...)
		}
	}
	return found
}

// mapPlace reads a map that has an image's parts, the repository under the given name. That need not be `repository`, as
// long as a tag or digest is beside it.
func mapPlace(fields map[string]any, steps []string, name string) (imagePlace, bool) {
	repository := text(fields[name])
	_, tagged := fields["tag"]
	_, digested := fields["digest"]
	if repository == "" || name != "repository" && !tagged && !digested {
		return imagePlace{}, false
	}
	at := func(key string) []string { return append(slices.Clip(steps), key) }
	p := imagePlace{repository: at(name), repositoryIs: repository, told: repository}
	if registry := text(fields["registry"]); registry != "" {
		p.registry, p.registryIs, p.told = at("registry"), registry, registry+"/"+repository
	}
	if tagged {
		p.tag, p.tagIs = at("tag"), text(fields["tag"])
	}
	if digested {
		p.digest = at("digest")
	}
	return p, true
}

// declaredPlaces reads the places that the application's settings declare.
func declaredPlaces(images []HelmImage, values any, policy string) ([]imagePlace, error) {
	var found []imagePlace
	for _, image := range images {
		p := imagePlace{}
		for pointer, steps := range map[*string]*[]string{
			&image.Reference: &p.reference, &image.Repository: &p.repository, &image.Tag: &p.tag, &image.Digest: &p.digest,
		} {
			if *pointer == "" {
				continue
			}
			var err error
			if *steps, err = splitPointer(*pointer); err != nil {
				return nil, refuse(BadValues, policy, 0, "helm.images: %q: %v", *pointer, err)
			}
		}
		parts := p.repository != nil || p.tag != nil || p.digest != nil
		if parts == (p.reference != nil) || p.reference == nil && p.tag == nil && p.digest == nil {
			return nil, refuse(BadValues, policy, 0,
				"helm.images: an image has either a reference, or a tag or digest with or without its repository")
		}
		p.repositoryIs, p.tagIs = valueAt(values, p.repository), valueAt(values, p.tag)
		found = append(found, p)
	}
	return found, nil
}

// valueAt is the text at a path of decoded values.
func valueAt(values any, steps []string) string {
	if steps == nil {
		return ""
	}
	for _, step := range steps {
		switch parent := values.(type) {
		case map[string]any:
			values = parent[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(parent) {
				return ""
			}
			values = parent[i]
		default:
			return ""
		}
	}
	return text(values)
}

// mayBe tells whether the place could render as the repository: templates put a registry in front, or a name behind. What
// is declared could be anything.
func (p imagePlace) mayBe(repository string) bool {
	return strings.Contains("/"+repository+"/", "/"+strings.Trim(p.told, "/")+"/") || p.told == ""
}

// setting is one value to write. sibling is a key in the same map, behind which it goes if it is not there yet.
type setting struct {
	steps          []string
	value, sibling string
}

// ways are the edits that may make the place render the target, best first. tag is what the image renders now.
func (p imagePlace) ways(name, tag string, target reference) ([][]setting, error) {
	if p.reference != nil {
		return [][]setting{{{p.reference, target.String(), ""}}}, nil
	}
	moved, err := p.move(name, target.repository)
	if err != nil {
		return nil, err
	}
	way := func(s setting) []setting { return append(slices.Clip(moved), s) }
	if p.digest != nil {
		return [][]setting{way(setting{p.digest, target.digest, "tag"})}, nil
	}
	var all [][]setting
	if p.tag != nil {
		if said, _, _ := strings.Cut(p.tagIs, "@"); said != "" {
			tag = said
		}
		// A template that knows no digest still renders one behind the tag.
		all = append(all, way(setting{p.tag, tag + "@" + target.digest, ""}))
	}
	if p.told != "" {
		digest := append(slices.Clip(p.repository[:len(p.repository)-1]), "digest")
		sibling := p.repository[len(p.repository)-1]
		if p.tag != nil {
			sibling = p.tag[len(p.tag)-1]
		}
		all = append(all, way(setting{digest, target.digest, sibling}))
	}
	return all, nil
}

// move gives the settings that change the image's repository. Around what the place says, templates may add text, which
// stays.
func (p imagePlace) move(from, to string) ([]setting, error) {
	if from == to {
		return nil, nil
	}
	if p.repository == nil {
		return nil, fmt.Errorf("no value for the repository is declared, so %s cannot become %s", from, to)
	}
	if p.registry != nil && from == p.told {
		if rest, ok := strings.CutPrefix(to, p.registryIs+"/"); ok {
			return []setting{{p.repository, rest, ""}}, nil
		}
		registry, rest, ok := strings.Cut(to, "/")
		if !ok {
			return nil, fmt.Errorf("%s has no registry, and the values keep it apart from the repository", to)
		}
		return []setting{{p.registry, registry, "repository"}, {p.repository, rest, ""}}, nil
	}
	before, after, ok := strings.Cut(from, p.repositoryIs)
	if ok {
		to, ok = strings.CutPrefix(to, before)
	}
	if ok {
		to, ok = strings.CutSuffix(to, after)
	}
	if !ok || to == "" {
		return nil, fmt.Errorf("the template makes %s of the repository %s, which cannot become %s", from, p.repositoryIs, to)
	}
	return []setting{{p.repository, to, ""}}, nil
}
