package argocd

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/internal/manifest"
)

// Promoted is an image that promotions change, by the names that an override
// could use.
type Promoted struct {
	Name       string   // as the manifests and the kustomization name it
	Repository string   // where it is pulled from
	Values     []string // JSON pointers to the Helm values that hold it or a part of it
}

// Override is a field of an Application that takes the place of what the config
// repository says about an image: promoting it there changes nothing.
type Override struct {
	Application string
	Place       // in the Application or its ApplicationSet, or the file beside the manifests
	Field       string
	Image       string // Promoted.Name
	Value       string
}

// Error says what to do.
func (o Override) Error() string {
	message := fmt.Sprintf("%s of Application %s sets the image %s to %s, whatever is promoted: remove it there", o.Field, o.Application, o.Image, o.Value)
	return Problem{o.Place, message}.String()
}

// OverridesOf finds the fields of an Application, and of the .argocd-source files
// beside its manifests, that set promoted images by name: entries of
// kustomize.images, Helm parameters and values. What overrides an image in
// another way, such as a patch, shows when the renderings are compared: see
// manifest.OverriddenImages. The error is about an .argocd-source file that
// cannot be read.
func OverridesOf(fsys fs.FS, a Application, images []Promoted, known Known) ([]Override, error) {
	var all []Override
	for i, s := range a.Sources {
		prefix := []string{"spec", "source"}
		if _, sources := child(specOf(a), "sources"); sources != nil || len(a.Sources) > 1 {
			prefix = []string{"spec", "sources", strconv.Itoa(i)}
		}
		for _, o := range s.overrides(images) {
			where := append(slices.Clone(prefix), o.field...)
			all = append(all, Override{a.Name, Place{a.File, a.LineOf(where...)}, fieldName(where), o.image, o.value})
		}
		if !known.has(s) || !s.renders() {
			continue
		}
		for _, name := range sourceFiles(cleanPath(s.Path), a.Name) {
			beside, err := sourceFile(fsys, name)
			if err != nil {
				return nil, a.refuse(manifest.BadValues, "%v", err)
			}
			for _, o := range beside.overrides(images) {
				all = append(all, Override{a.Name, Place{File: name}, fieldName(o.field), o.image, o.value})
			}
		}
	}
	return all, nil
}

// override is one that was found inside a source.
type override struct {
	field        []string
	image, value string
}

func (s Source) overrides(images []Promoted) []override {
	var found []override
	for _, image := range images {
		if s.Kustomize != nil {
			found = append(found, s.Kustomize.overrides(image)...)
		}
		if s.Helm != nil {
			found = append(found, s.Helm.overrides(image)...)
		}
	}
	return found
}

func (k Kustomize) overrides(image Promoted) []override {
	var found []override
	for i, text := range k.Images {
		entry, err := manifest.ParseImageOverride(text)
		if err == nil && (entry.Name == image.Name || entry.Name == image.Repository) {
			found = append(found, override{[]string{"kustomize", "images", strconv.Itoa(i)}, image.Name, text})
		}
	}
	return found
}

func (h Helm) overrides(image Promoted) []override {
	values, err := h.values()
	field := "valuesObject"
	if len(h.ValuesObject) == 0 {
		field = "values"
	}
	var found []override
	for _, pointer := range image.Values {
		steps := pointerSteps(pointer)
		for i, p := range h.Parameters {
			if overlaps(parameterSteps(p.Name), steps) {
				found = append(found, override{[]string{"helm", "parameters", strconv.Itoa(i)}, image.Name, p.Name + "=" + p.Value})
			}
		}
		for i, p := range h.FileParameters {
			if overlaps(parameterSteps(p.Name), steps) {
				found = append(found, override{[]string{"helm", "fileParameters", strconv.Itoa(i)}, image.Name, "the content of " + p.Path})
			}
		}
		if value, depth := setAt(values, steps); err == nil && depth > 0 {
			found = append(found, override{append([]string{"helm", field}, steps[:depth]...), image.Name, fmt.Sprint(value)})
		}
	}
	return found
}

// setAt finds what an object says at the end of some steps, or where it ends
// before with something that is no map; depth is 0 if it says nothing.
func setAt(object map[string]any, steps []string) (value any, depth int) {
	value = object
	for i, step := range steps {
		fields, isMap := value.(map[string]any)
		if !isMap {
			return value, i // a list or text takes the place of all below
		}
		var there bool
		if value, there = fields[step]; !there {
			return nil, 0
		}
	}
	return value, len(steps)
}

// overlaps tells whether one of two places is inside the other.
func overlaps(a, b []string) bool {
	n := min(len(a), len(b))
	return n > 0 && slices.Equal(a[:n], b[:n])
}

func pointerSteps(pointer string) []string {
	if pointer == "" {
		return nil
	}
	steps := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, step := range steps {
		steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
	}
	return steps
}

// parameterSteps takes the name of a Helm parameter such as images[0].tag apart.
// A backslash keeps a dot.
func parameterSteps(name string) []string {
	var steps []string
	var step strings.Builder
	end := func() {
		if step.Len() > 0 {
			steps = append(steps, step.String())
			step.Reset()
		}
	}
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '\\' && i+1 < len(name):
			i++
			step.WriteByte(name[i])
		case c == '.' || c == '[' || c == ']':
			end()
		default:
			step.WriteByte(c)
		}
	}
	end()
	return steps
}

// fieldName writes a path as people do: spec.sources[0].kustomize.images[1].
func fieldName(steps []string) string {
	var out strings.Builder
	for i, step := range steps {
		if _, err := strconv.Atoi(step); err == nil {
			out.WriteString("[" + step + "]")
			continue
		}
		if i > 0 {
			out.WriteByte('.')
		}
		out.WriteString(step)
	}
	return out.String()
}
