package manifest

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// root follows a path that may lead to a file or to another kustomization.
func (s *scanner) root(file, dir, home string, node *yaml.Node, plugin bool) {
	name := scalar(node)
	if isURL(name) || isRepository(name) {
		// Kustomize takes it for one even where such a folder exists.
		s.refuse(RemoteBase, file, node.Line, "%s is a URL or a Git repository, which cannot be read here", name)
		return
	}
	if plugin && s.inline(file, node) {
		return
	}
	real, isDir, ok := s.local(file, dir, name, node.Line)
	switch {
	case ok && !isDir:
		documents, err := s.documents(real)
		if plugin && err != nil {
			s.unreadable(real, 0, err)
		} else if plugin && documents != nil {
			s.plugins(real, 0, documents)
		}
	case ok:
		s.bases[dir] = append(s.bases[dir], real)
		s.folder(real, home, plugin)
	}
}

// inline checks the configuration of a plugin that stands in the kustomization
// itself, which is what kustomize tries first.
func (s *scanner) inline(file string, node *yaml.Node) bool {
	text := scalar(node)
	config, err := parse(file, []byte(text))
	if err != nil {
		if strings.Contains(text, ":") {
			s.unreadable(file, node.Line, err)
		}
		return false
	}
	for _, doc := range config.docs {
		if expands(doc) {
			s.refuse(TooLarge, file, node.Line, "its aliases expand to more than %d nodes", maxExpansion)
			return true
		}
	}
	if root := config.root(); root == nil || root.Kind != yaml.MappingNode {
		return false
	}
	s.plugins(file, node.Line, config)
	return true
}

func (s *scanner) each(file, dir string, nodes []*yaml.Node) {
	for _, node := range nodes {
		s.file(file, dir, node)
	}
}

// file checks a path that leads to a file only. A generator may put the key
// that it is for in front.
func (s *scanner) file(file, dir string, node *yaml.Node) {
	name := scalar(node)
	if _, behind, ok := strings.Cut(name, "="); ok && !isURL(name) {
		name = behind
	}
	if isURL(name) {
		s.refuse(RemoteBase, file, node.Line, "%s is a URL, which cannot be read here", name)
		return
	}
	if name == "" || strings.Contains(name, "\n") {
		return // nothing, or an inline patch
	}
	if real, isDir, ok := s.local(file, dir, name, node.Line); ok && !isDir {
		_, err := s.tree.read(real)
		s.note(err)
	}
}

// local resolves a path inside the tree; ok is false when there is no such
// file, or when it was refused.
func (s *scanner) local(file, dir, name string, line int) (real string, isDir, ok bool) {
	joined := path.Join(dir, name)
	if path.IsAbs(name) || joined == ".." || strings.HasPrefix(joined, "../") {
		s.refuse(PathEscape, file, line, "%s leaves the repository", name)
		return "", false, false
	}
	real, isDir, err := s.tree.resolve(joined)
	s.note(err)
	return real, isDir, err == nil
}

// plugins checks configurations of generators, transformers and validators. The
// line is that of an inline one, 0 for a file.
func (s *scanner) plugins(file string, line int, documents *source) {
	for _, doc := range documents.docs {
		config := doc.Content[0]
		at := cmp.Or(line, config.Line)
		if config.Kind != yaml.MappingNode {
			s.refuse(UnsupportedPlugin, file, at, "the configuration of a plugin is a list")
			continue
		}
		apiVersion, _ := field(config, "apiVersion")
		kind, _ := field(config, "kind")
		if scalar(apiVersion) != "builtin" || scalar(kind) == "HelmChartInflationGenerator" {
			s.refuse(UnsupportedPlugin, file, at, "the plugin %s runs a program, which is not done here", scalar(kind))
			continue
		}
		if url := findURL(config); url != "" {
			s.refuse(RemoteBase, file, at, "the plugin %s reads %s, which cannot be read here", scalar(kind), url)
		}
	}
}

// pluginFolder allows a kustomization of plugins no more than a list of files:
// what patches make of a plugin is not known before kustomize runs it.
func (s *scanner) pluginFolder(file string, root *yaml.Node) {
	for _, p := range pairs(root) {
		switch strings.ToLower(scalar(p.key)) {
		case "resources", "apiversion", "kind", "metadata":
		default:
			s.refuse(UnsupportedPlugin, file, p.key.Line, "a kustomization of plugins may only have resources, not %s", p.key.Value)
		}
	}
}

// pathKeys name files in configurations of kustomize's built-in plugins. An
// escape through them is noticed while rendering.
var pathKeys = []string{"path", "paths", "files", "envs", "env", "targetfilepath"}

// findURL finds a URL where a built-in plugin wants a file.
func findURL(node *yaml.Node) string {
	node = deref(node)
	if node.Kind == yaml.SequenceNode {
		for _, child := range node.Content {
			if url := findURL(child); url != "" {
				return url
			}
		}
	}
	if node.Kind != yaml.MappingNode {
		return ""
	}
	for _, p := range pairs(node) {
		if url := findURL(p.value); url != "" {
			return url
		}
		if !slices.Contains(pathKeys, strings.ToLower(scalar(p.key))) {
			continue
		}
		for _, value := range append(items(p.value), deref(p.value)) {
			text := scalar(value)
			if _, behind, ok := strings.Cut(text, "="); ok && !isURL(text) {
				text = behind
			}
			if isURL(text) {
				return text
			}
		}
	}
	return ""
}

// isURL tells what kustomize fetches over HTTP even where it wants a file.
func isURL(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "http:") || strings.HasPrefix(name, "https:")
}

var repositoryStart = regexp.MustCompile(`(?i)^(git::|[a-z][a-z0-9+.-]*://|github\.com[/:]|[a-z][a-z0-9-]*@[^/:]*[/:])`)

// isRepository tells what kustomize clones where it wants a folder, and a
// little more, such as other schemes.
func isRepository(name string) bool { return repositoryStart.MatchString(name) }
