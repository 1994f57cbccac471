package policy

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sluicehq/sluice/internal/promotion"
)

// File is the name of policy files.
const File = "sluice.yaml"

// version is the one that this program reads.
const version = 1

// rootFile is the policy of a config repository, without what its applications add.
type rootFile struct {
	layout       promotion.Layout
	rootLines    []int // where the roots stand
	environments named[layer]
	applications named[named[layer]]
	loosen       map[string]bool
	windows      []selected
}

// readRoot reads the root's file. What it says nothing of, or something wrong, is as without a file.
func readRoot(s *source, text string) *rootFile {
	r := &rootFile{layout: promotion.Layout{Roots: []string{"apps"}, Ranks: map[string]int{}}, rootLines: []int{0}, loosen: map[string]bool{}}
	f, ok := s.parse(text)
	if !ok {
		return r
	}
	members := f.members("version", "roots", "environments", "applications", "loosen", "windows")
	for _, m := range members {
		if m.name == "version" && !m.version() {
			return r
		}
	}
	for _, m := range members {
		switch m.name {
		case "roots":
			r.readRoots(m)
		case "environments":
			r.environments = m.environments(r.rank)
		case "applications":
			r.readApplications(m)
		case "loosen":
			r.readLoosen(m)
		case "windows":
			r.windows = m.windows("applications", "environments", "clusters")
		}
	}
	return r
}

// version tells whether the rest of the file can be understood.
func (f field) version() bool {
	if !f.is(yaml.ScalarNode, "!!int", fmt.Sprintf("the number %d", version)) {
		return false
	}
	if f.node.Value != fmt.Sprint(version) {
		f.fault(UnknownVersion, "this Sluice reads version %d, not %s", version, brief(f.node.Value))
		return false
	}
	return true
}

func (r *rootFile) readRoots(f field) {
	roots, ok := f.texts(func(f field) (string, bool) {
		text, ok := f.text()
		if ok && (!fs.ValidPath(text) || text == ".") {
			f.fault(BadValue, "%s is no folder of the repository, written like apps or clusters/eu/apps", cut(text))
			ok = false
		}
		return text, ok
	})
	if !ok {
		return
	}
	r.layout.Roots, r.rootLines = roots, nil
	for _, item := range f.node.Content {
		r.rootLines = append(r.rootLines, item.Line)
	}
}

// rank is of an environment that the root's file names.
func (r *rootFile) rank(environment string, f field) {
	const most = 1000
	if isPattern(environment) {
		f.fault(BadValue, "a pattern has no rank: give it to each environment by its name")
		return
	}
	if n, ok := f.whole(most); ok {
		r.layout.Ranks[environment] = n
	}
}

// environments reads settings by the names of environments.
func (f field) environments(rank func(environment string, f field)) named[layer] {
	var n named[layer]
	for _, m := range f.members() {
		if m.isName("environment") {
			n.add(m.name, m.layer("", func(f field) { rank(m.name, f) }))
		}
	}
	return n
}

// noRank refuses a rank where it does not belong.
func noRank(_ string, f field) {
	f.fault(UnknownKey, "an environment has one rank for all applications: say it under environments in the root's %s", File)
}

// isName tells whether a mapping's key can be the name of a folder, or a pattern of such names.
func (f field) isName(what string) bool {
	if strings.TrimSpace(f.name) == "" || strings.Contains(f.name, "/") {
		f.fault(BadValue, "%s is no name of an %s, which is one folder's", cut(f.name), what)
		return false
	}
	return f.wellFormed(f.name)
}

func (r *rootFile) readApplications(f field) {
	for _, m := range f.members() {
		if !m.isName("application") {
			continue
		}
		for _, part := range m.members("environments") {
			r.applications.add(m.name, part.environments(noRank))
		}
	}
}

func (r *rootFile) readLoosen(f field) {
	known := make([]string, len(settings))
	for i, s := range settings {
		known[i] = s.key
	}
	for _, item := range f.items() {
		key, ok := item.text()
		switch {
		case !ok:
		case settingOf[key] == nil:
			item.fault(BadValue, "%s is no setting%s", cut(key), instead(key, known))
		case r.loosen[key]:
			item.fault(BadValue, "%s stands here twice", cut(key))
		default:
			r.loosen[key] = true
		}
	}
}

// applicationOf names the application whose file this is.
func (r *rootFile) applicationOf(file string) (name string, ok bool) {
	folder := path.Dir(file)
	for _, root := range r.layout.Roots {
		if path.Base(file) == File && path.Dir(folder) == root {
			return path.Base(folder), true
		}
	}
	return "", false
}
