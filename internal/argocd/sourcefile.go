package argocd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"

	k8syaml "sigs.k8s.io/yaml"
)

// withSourceFiles lays over a source what the files .argocd-source.yaml and
// .argocd-source-<application>.yaml beside its manifests say, as Argo CD does:
// people and image updaters keep parameters there.
func withSourceFiles(fsys fs.FS, folder, application string, s Source) (Source, error) {
	for _, name := range sourceFiles(folder, application) {
		upper, err := readMap(fsys, name)
		if err != nil {
			return s, err
		}
		if s, err = s.patched(upper); err != nil {
			return s, fmt.Errorf("%s: %w", name, err)
		}
	}
	return s, nil
}

// readMap gives an empty map for a file that is not there.
func readMap(fsys fs.FS, name string) (map[string]any, error) {
	data, err := readFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var content map[string]any
	if err := k8syaml.Unmarshal(data, &content); err != nil {
		return nil, fmt.Errorf("%s is no YAML map", name)
	}
	return content, nil
}

// sourceFile reads what such a file says by itself.
func sourceFile(fsys fs.FS, name string) (Source, error) {
	content, err := readMap(fsys, name)
	if err != nil {
		return Source{}, err
	}
	s, err := Source{}.patched(content)
	if err != nil {
		return s, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

func sourceFiles(folder, application string) []string {
	return []string{path.Join(folder, ".argocd-source.yaml"), path.Join(folder, ".argocd-source-"+application+".yaml")}
}

// patched keeps where the source is: only how it is rendered can be overridden.
func (s Source) patched(upper map[string]any) (Source, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return s, err
	}
	var lower map[string]any
	if err := json.Unmarshal(data, &lower); err != nil {
		return s, err
	}
	if data, err = json.Marshal(patched(lower, upper)); err != nil {
		return s, err
	}
	var next Source
	if err := json.Unmarshal(data, &next); err != nil {
		return s, brief(err)
	}
	next.RepoURL, next.Path, next.TargetRevision, next.Chart, next.Ref = s.RepoURL, s.Path, s.TargetRevision, s.Chart, s.Ref
	return next, nil
}
