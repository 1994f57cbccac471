package manifest

import (
	"regexp"

	"go.yaml.in/yaml/v3"
)

// imageLists are the fields with entries that change images, in the order in
// which kustomize runs them.
var imageLists = []string{"images", "imageTags"}

// entry is one element of `images`, or of its old name `imageTags`.
type entry struct {
	node   *yaml.Node
	line   int
	shared bool // the edit would be seen in another place of the file too

	name, newName, newTag, tagSuffix, digest string // merged keys included

	pattern *regexp.Regexp // nil if kustomize cannot compile the name
}

// imageTail is what kustomize allows behind a name. Source: IsImageMatched in
// sigs.k8s.io/kustomize/api/internal/image.
const imageTail = `(:[a-zA-Z0-9_.{}-]*)?(@[a-zA-Z0-9]+([.+_-][a-zA-Z0-9]+)*:[a-zA-Z0-9_.{}-]*)?$`

func compileName(name string) *regexp.Regexp {
	pattern, err := regexp.Compile("^" + name + imageTail)
	if err != nil {
		return nil
	}
	return pattern
}

// entries lists what acts on images in a kustomization, in order.
func (s *source) entries() []entry {
	var list []entry
	root := s.root()
	for _, name := range imageLists {
		value, merged := field(root, name)
		if value == nil {
			continue
		}
		shared := merged || s.aliased[deref(root)] || value.Kind == yaml.AliasNode || s.aliased[value]
		sequence := deref(value)
		for i, node := range items(value) {
			e := entry{node: node, line: sequence.Content[i].Line}
			e.shared = shared || sequence.Content[i].Kind == yaml.AliasNode || s.aliased[node]
			for key, target := range map[string]*string{
				"name": &e.name, "newName": &e.newName, "newTag": &e.newTag,
				"tagSuffix": &e.tagSuffix, "digest": &e.digest,
			} {
				value, _ := field(node, key)
				*target = scalar(value)
			}
			e.pattern = compileName(e.name)
			list = append(list, e)
		}
	}
	return list
}

func (e entry) actsOn(image string) bool {
	return e.pattern != nil && e.pattern.MatchString(image)
}

// act gives what kustomize makes of an image. Source: SetImageValue in
// sigs.k8s.io/kustomize/api/filters/imagetag.
func (e entry) act(image string) string {
	ref := splitReference(image)
	if e.newName != "" {
		ref.repository = e.newName
	}
	switch {
	case e.newTag != "" || e.digest != "":
		ref.tag, ref.digest = e.newTag, e.digest
	case e.tagSuffix != "":
		ref.tag, ref.digest = ref.tag+e.tagSuffix, ""
	}
	return ref.String()
}

// chain runs an image through all entries, each on the result of the last, and
// returns the result with the indexes of those that acted.
func chain(entries []entry, image string) (string, []int) {
	var acted []int
	for i, e := range entries {
		if e.actsOn(image) {
			image = e.act(image)
			acted = append(acted, i)
		}
	}
	return image, acted
}
