package lint

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

func movingTag() Rule {
	return Rule{
		Code: "moving-tag", Level: Warning,
		What: "An image that a target renders without a digest. No tag at all, or `latest`, is an error.",
		Why:  "A tag can be pushed again: the same commit then runs other code, on some nodes and not on others, and going back in Git does not bring the old code back.",
		Mend: "Write the image as repository@sha256:…; in a kustomization by `digest:` in the entry under `images`. `sluice overlay set-image` does it.",
		run:  eachTarget(movingTags),
	}
}

func movingTags(r *repository, t *target) []Finding {
	var found []Finding
	for _, image := range t.rendered.Images() {
		repository, tag, digest := splitImage(image.Reference)
		if digest || repository == "" {
			continue
		}
		message, level := fmt.Sprintf("the image %s has the tag %s and no digest", repository, tag), Warning
		switch tag {
		case "":
			message, level = fmt.Sprintf("the image %s has neither tag nor digest", repository), Error
		case "latest":
			message, level = fmt.Sprintf("the image %s has the tag latest, which is meant to move", repository), Error
		}
		f := r.find(t, image.Object, fieldPath(image.Path), message)
		f.Level = level
		if line, file := r.entry(t, "images", names(repository)); line > 0 {
			f.File, f.Line = file, line
		} else if file, line := r.files.findText(r.chartFiles(t), repository); line > 0 {
			f.File, f.Line = file, line
		}
		found = append(found, f)
	}
	return found
}

// names tells whether an entry under `images` gives a repository its tag.
func names(repository string) func(*yaml.Node) bool {
	return func(entry *yaml.Node) bool {
		name := scalar(get(entry, "newName"))
		if name == "" {
			name = scalar(get(entry, "name"))
		}
		return name == repository
	}
}

// splitImage takes a reference apart. A colon before the last slash is a port.
func splitImage(reference string) (repository, tag string, digest bool) {
	repository, _, digest = strings.Cut(reference, "@")
	if i := strings.LastIndex(repository, ":"); i > strings.LastIndex(repository, "/") {
		return repository[:i], repository[i+1:], digest
	}
	return repository, "", digest
}
