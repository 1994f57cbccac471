package policy

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

var (
	dnsLabel    = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	kubeVersion = regexp.MustCompile(`^v?[0-9]+\.[0-9]+(\.[0-9]+)?$`)
	jsonPointer = regexp.MustCompile(`^(/([^~/]|~[01])*)+$`)
)

// helm checks manifest.HelmSettings, which package manifest reads by itself when it renders.
func (f field) helm() {
	for _, m := range f.members("chart", "values", "release", "namespace", "kube_version", "images") {
		switch m.name {
		case "chart":
			m.inside("")
		case "values":
			m.texts(func(f field) (string, bool) { return f.inside("overlays/environment") })
		case "release", "namespace":
			m.form(dnsLabel, "lower-case letters, digits and dashes")
		case "kube_version":
			m.form(kubeVersion, "a version such as 1.34.1")
		case "images":
			m.helmImages()
		}
	}
}

// form checks a text against an expression.
func (f field) form(form *regexp.Regexp, wanted string) {
	if text, ok := f.text(); ok && !form.MatchString(text) {
		f.fault(BadValue, "must be %s, not %s", wanted, cut(text))
	}
}

// inside reads a path relative to a folder of the application's that does not lead out of it.
func (f field) inside(folder string) (string, bool) {
	text, ok := f.text()
	if ok && (path.IsAbs(text) || strings.Contains(text, `\`) || !filepath.IsLocal(path.Join(folder, text))) {
		f.fault(BadValue, "%s leads out of the application's folder", cut(text))
		ok = false
	}
	return text, ok
}

func (f field) helmImages() {
	if !f.is(yaml.SequenceNode, "!!seq", "a list") {
		return
	}
	for i := range f.node.Content {
		f.item(i).helmImage()
	}
}

func (f field) helmImage() {
	before := len(f.faults)
	var has []string
	for _, m := range f.members("name", "reference", "repository", "tag", "digest") {
		text, ok := m.text()
		if ok && m.name != "name" && !jsonPointer.MatchString(text) {
			m.fault(BadValue, "must be a JSON pointer into the values, such as /image/tag, not %s", cut(text))
		}
		has = append(has, m.name)
	}
	whole, parts := slices.Contains(has, "reference"), slices.Contains(has, "tag") || slices.Contains(has, "digest")
	if len(f.faults) == before && (whole == parts || whole && slices.Contains(has, "repository")) {
		f.fault(BadValue, "an image has either a reference, or a tag or digest with or without its repository")
	}
}
