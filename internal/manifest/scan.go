package manifest

import (
	"errors"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
)

// maxFolders bounds the bases and components under one overlay, each counted
// as often as it is reached: kustomize builds it anew each time.
const maxFolders = 1000

// scanner walks everything that an overlay names before kustomize sees it,
// because kustomize would fetch URLs and clone repositories on the way, and
// because it stops at the first fault where the first by precedence is wanted.
// What it misses is caught while rendering: kustomizeFS refuses escapes and
// large files, krusty runs no external plugins.
type scanner struct {
	tree     *tree
	visited  map[string]bool
	bases    map[string][]string // folders that a folder names
	refusals []*Refusal
	overlay  *source // the overlay's kustomization, nil when not readable
	composes bool    // something puts strings together: replacements, vars, transformers
}

// scan checks the kustomization in dir, a resolved path, and all it reaches.
func scan(t *tree, dir string) *scanner {
	s := &scanner{tree: t, visited: map[string]bool{}, bases: map[string][]string{}}
	s.folder(dir, dir, false)
	if s.builds(dir, map[string]int{}) > maxFolders {
		s.refuse(TooLarge, dir, 0, "the overlay builds more than %d bases and components", maxFolders)
	}
	return s
}

// builds counts how many kustomizations are built for the one in dir. Cycles
// are left for kustomize to refuse.
func (s *scanner) builds(dir string, known map[string]int) int {
	if n, seen := known[dir]; seen {
		return n
	}
	known[dir] = 1
	n := 1
	for _, base := range s.bases[dir] {
		n = min(n+s.builds(base, known), 2*maxFolders)
	}
	known[dir] = n
	return n
}

func (s *scanner) refuse(code Code, file string, line int, format string, args ...any) {
	s.refusals = append(s.refusals, refuse(code, file, line, format, args...))
}

// note keeps err if it is a refusal.
func (s *scanner) note(err error) {
	var r *Refusal
	if errors.As(err, &r) {
		s.refusals = append(s.refusals, r)
	}
}

// unreadable keeps kustomize from reading what could not be scanned: its parser
// might make more of it.
func (s *scanner) unreadable(file string, line int, err error) {
	if s.tree.unscanned == nil {
		s.tree.unscanned = refuse(RenderFailed, file, line, "not YAML: %v", err)
	}
}

// folder scans one kustomization. The one in home asked for it; with plugin
// set, its resources are configurations of plugins.
func (s *scanner) folder(dir, home string, plugin bool) {
	key := dir
	if plugin {
		key += "\x00" + home
	}
	if s.visited[key] {
		return
	}
	top := len(s.visited) == 0
	s.visited[key] = true
	if len(s.visited) > maxFolders {
		return // builds refuses it
	}
	file := s.kustomization(dir, top)
	if file == nil {
		return
	}
	if top {
		s.overlay = file
		s.check(file)
	}
	if root := file.root(); root != nil {
		s.fields(file.name, dir, home, root, plugin)
		if plugin {
			s.pluginFolder(file.name, root)
		}
	}
}

// kustomization reads the kustomization file of a folder. Only in the overlay
// is a missing, doubled or malformed one reported here; elsewhere it makes the
// rendering fail.
func (s *scanner) kustomization(dir string, top bool) *source {
	var found []string
	for _, name := range kustomizationNames {
		real, isDir, err := s.tree.resolve(path.Join(dir, name))
		s.note(err)
		if err == nil && !isDir && within(real, dir) {
			found = append(found, real)
		}
	}
	if len(found) != 1 {
		if top && len(found) == 0 {
			s.refuse(NoKustomization, dir, 0, "the folder has no kustomization file of its own")
		} else if top {
			s.refuse(BadKustomization, dir, 0, "there are %d kustomization files side by side", len(found))
		}
		return nil
	}
	file, err := s.documents(found[0])
	if err != nil && top {
		s.refuse(BadKustomization, found[0], 0, "not YAML: %v", err)
	} else if err != nil {
		s.unreadable(found[0], 0, err)
	}
	return file
}

func within(file, dir string) bool {
	return dir == "." || file == dir || strings.HasPrefix(file, dir+"/")
}

// documents reads and parses a file; nil with no error when it was refused.
func (s *scanner) documents(name string) (*source, error) {
	data, err := s.tree.read(name)
	if err != nil {
		s.note(err)
		return nil, nil
	}
	file, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	for _, doc := range file.docs {
		if expands(doc) {
			s.refuse(TooLarge, name, doc.Line, "its aliases expand to more than %d nodes", maxExpansion)
			return nil, nil
		}
	}
	return file, nil
}

// check holds the file to edit to what only matters there.
func (s *scanner) check(file *source) {
	if len(file.docs) > 1 {
		s.refuse(MultiDocument, file.name, file.docs[1].Line,
			"the file has %d documents, of which kustomize reads only the first", len(file.docs))
	}
	for _, doc := range file.docs {
		if key := duplicateKey(doc, true); key != nil {
			s.refuse(DuplicateKey, file.name, key.Line, "the key %q is there twice", key.Value)
			return
		}
	}
	var k types.Kustomization
	err := k.Unmarshal(file.data)
	if err == nil {
		k.FixKustomization()
		err = k.CheckEmpty()
	}
	if err == nil {
		if faults := k.EnforceFields(); len(faults) > 0 {
			err = errors.New(strings.Join(faults, "; "))
		}
	}
	if err != nil {
		s.refuse(BadKustomization, file.name, 0, "kustomize refuses the file: %v", err)
	}
}

// fields follows every field of a kustomization that names files or folders.
func (s *scanner) fields(file, dir, home string, root *yaml.Node, plugin bool) {
	for _, name := range []string{"helmCharts", "helmChartInflationGenerator"} {
		for _, chart := range everyItem(root, name) {
			s.refuse(UnsupportedPlugin, file, chart.Line, "%s needs the helm program", name)
		}
	}
	for _, name := range []string{"resources", "bases", "components"} {
		for _, p := range everyItem(root, name) {
			s.root(file, dir, home, p, plugin)
		}
	}
	for _, name := range []string{"generators", "transformers", "validators"} {
		for _, p := range everyItem(root, name) {
			s.composes = true
			s.root(file, dir, dir, p, true)
		}
	}
	for _, name := range []string{"crds", "configurations", "patchesStrategicMerge"} {
		for _, p := range everyItem(root, name) {
			s.file(file, dir, p)
		}
	}
	for _, name := range []string{"patches", "patchesJson6902", "replacements", "vars"} {
		for _, item := range everyItem(root, name) {
			s.composes = s.composes || name == "replacements" || name == "vars"
			s.each(file, dir, everyField(item, "path"))
		}
	}
	for _, schema := range everyField(root, "openapi") {
		s.tree.ownSchema = true
		s.each(file, dir, everyField(schema, "path"))
	}
	for _, name := range []string{"configMapGenerator", "secretGenerator"} {
		for _, item := range everyItem(root, name) {
			s.each(file, dir, everyItem(item, "files"))
			s.each(file, dir, everyItem(item, "envs"))
			s.each(file, dir, everyField(item, "env"))
		}
	}
}
