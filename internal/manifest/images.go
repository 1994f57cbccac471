package manifest

import (
	"maps"
	"slices"
	"strconv"
)

// Image is one place where a rendered object names an image.
type Image struct {
	Object    ID     `json:"object"`
	Container string `json:"container"` // empty outside a list of containers
	Path      string `json:"path"`
	Reference string `json:"reference"`
}

// Images lists every place that names an image: each string under a key
// `image`, and `reference` in an `image` map (image volumes), in custom
// resources too. ConfigMaps, Secrets and CustomResourceDefinitions only talk
// about images, so they are left out.
func (r Rendered) Images() []Image {
	var found []Image
	for _, object := range r.Objects {
		if runsImages(object.Kind) {
			walkImages(object.Content, "", "", func(path, container, reference string) {
				found = append(found, Image{object.ID, container, path, reference})
			})
		}
	}
	return found
}

func runsImages(kind string) bool {
	return kind != "ConfigMap" && kind != "Secret" && kind != "CustomResourceDefinition"
}

// containerLists are the keys of a pod's lists of containers.
var containerLists = []string{"containers", "initContainers", "ephemeralContainers"}

// walkImages visits in key order. key is the map key that led to value.
func walkImages(value any, key, path string, visit func(path, container, reference string)) {
	switch value := value.(type) {
	case map[string]any:
		container := ""
		if slices.Contains(containerLists, key) {
			container = text(value["name"])
		}
		for _, k := range slices.Sorted(maps.Keys(value)) {
			child, isText := value[k].(string)
			if isText && isImageField(key, k) {
				visit(joinField(path, k), container, child)
				continue
			}
			walkImages(value[k], k, joinField(path, k), visit)
		}
	case []any:
		names := elementNames(value)
		for i, item := range value {
			walkImages(item, key, path+"["+names[i]+"]", visit)
		}
	}
}

// isImageField tells whether the string at key, inside a map or list that
// stands under parent, is an image reference.
func isImageField(parent, key string) bool {
	return key == "image" || (key == "reference" && parent == "image")
}

// elementNames names the elements of a list: by their `name` where every
// element has one of its own, as containers, ports and environment variables
// do, otherwise by index.
func elementNames(list []any) []string {
	names := make([]string, len(list))
	if byName, ok := byName(list); ok {
		for name, i := range byName {
			names[i] = name
		}
		return names
	}
	for i := range list {
		names[i] = strconv.Itoa(i)
	}
	return names
}

// byName indexes a list whose elements are all maps with a name of their own.
func byName(list []any) (map[string]int, bool) {
	index := make(map[string]int, len(list))
	for i, item := range list {
		fields, _ := item.(map[string]any)
		name := text(fields["name"])
		if _, twice := index[name]; twice || name == "" {
			return nil, false
		}
		index[name] = i
	}
	return index, true
}
