package argocd

import (
	"fmt"
	"io/fs"

	"sigs.k8s.io/kustomize/api/types"
	k8syaml "sigs.k8s.io/yaml"

	"github.com/sluicehq/sluice/internal/manifest"
)

// Part is one of an Application's sources as it is rendered: a folder of the
// config repository and what the Application adds to it.
type Part struct {
	Folder    string
	Additions manifest.Additions
}

// Parts are the sources of an Application that give manifests, in their order.
// The error is a *manifest.Refusal that says which source cannot be rendered
// from this repository's base branch alone, and why.
func Parts(fsys fs.FS, a Application, known Known) ([]Part, error) {
	var parts []Part
	for i, s := range a.Sources {
		if !s.renders() {
			continue
		}
		p, err := a.part(fsys, i, known)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return nil, a.refuse(manifest.NoKustomization, "it has no source that gives manifests")
	}
	return parts, nil
}

// Render renders everything that an Application deploys. Of an object that
// several sources give, the last one's counts, as in Argo CD. The error is a
// *manifest.Refusal, or what reading fsys returned.
func Render(fsys fs.FS, a Application, known Known) (manifest.Rendered, error) {
	parts, err := Parts(fsys, a, known)
	if err != nil {
		return manifest.Rendered{}, err
	}
	var all manifest.Rendered
	for _, p := range parts {
		r, err := manifest.RenderWith(fsys, p.Folder, p.Additions)
		if err != nil {
			return manifest.Rendered{}, err
		}
		all = all.Overlaid(r)
	}
	return all, nil
}

func (a Application) refuse(code manifest.Code, format string, args ...any) *manifest.Refusal {
	return &manifest.Refusal{
		Code: code, File: a.File, Line: a.Line,
		Message: fmt.Sprintf("Application %s: ", a.Name) + fmt.Sprintf(format, args...),
	}
}

func (a Application) part(fsys fs.FS, i int, known Known) (Part, error) {
	s := a.Sources[i]
	switch {
	case s.Chart != "":
		return Part{}, a.refuse(manifest.UnsupportedPlugin, "the chart %s would have to be downloaded from %s", s.Chart, withoutUser(s.RepoURL))
	case !known.has(s):
		return Part{}, a.refuse(manifest.RemoteBase, "it deploys from another repository, %s", withoutUser(s.RepoURL))
	case !known.follows(s.TargetRevision):
		return Part{}, a.refuse(manifest.RemoteBase, "it deploys the revision %s, not what is on %s", s.TargetRevision, known.Branch)
	case s.Plugin != nil:
		return Part{}, a.refuse(manifest.UnsupportedPlugin, "it is rendered by a config management plugin, which is not done here")
	}
	folder := cleanPath(s.Path)
	s, err := withSourceFiles(fsys, folder, a.Name, s)
	if err != nil {
		return Part{}, a.refuse(manifest.BadValues, "%v", err)
	}
	a.Sources = append(append(append([]Source{}, a.Sources[:i]...), s), a.Sources[i+1:]...)
	p := Part{Folder: folder, Additions: manifest.Additions{Kustomize: a.kustomize(i)}}
	if p.Additions.Helm, err = a.helm(i, known); err != nil {
		return Part{}, err
	}
	p.Additions.Directory, err = a.directory(i)
	return p, err
}

func (a Application) kustomize(i int) manifest.KustomizeAdditions {
	k := a.Sources[i].Kustomize
	if k == nil {
		return manifest.KustomizeAdditions{}
	}
	added := manifest.KustomizeAdditions{
		NamePrefix: k.NamePrefix, NameSuffix: k.NameSuffix, Namespace: k.Namespace,
		LabelsWithoutSelectors: k.LabelWithoutSelector, LabelsInTemplates: k.LabelIncludeTemplates, ForceLabels: k.ForceCommonLabels,
		ForceAnnotations: k.ForceCommonAnnotations, Annotations: k.CommonAnnotations,
		Patches: k.Patches, Components: k.Components, IgnoreMissing: k.IgnoreMissingComponents,
	}
	for _, image := range k.Images {
		added.Images = append(added.Images, a.substituted(i, image))
	}
	for _, r := range k.Replicas {
		added.Replicas = append(added.Replicas, types.Replica{Name: r.Name, Count: int64(r.Count.IntValue())})
	}
	added.Labels = a.substitutedAll(i, k.CommonLabels)
	if k.CommonAnnotationsEnvsubst {
		added.Annotations = a.substitutedAll(i, k.CommonAnnotations)
	}
	return added
}

// helm says the release and the namespace also where the Application adds
// nothing else.
func (a Application) helm(i int, known Known) (manifest.HelmAdditions, error) {
	added := manifest.HelmAdditions{Release: a.Name, Namespace: a.Destination.Namespace}
	h := a.Sources[i].Helm
	if h == nil {
		return added, nil
	}
	if len(h.APIVersions) > 0 {
		return added, a.refuse(manifest.UnsupportedPlugin, "helm.apiVersions is not supported here")
	}
	if h.ReleaseName != "" {
		added.Release = h.ReleaseName
	}
	if h.Namespace != "" {
		added.Namespace = h.Namespace
	}
	added.KubeVersion, added.SkipCRDs, added.SkipTests = h.KubeVersion, h.SkipCRDs, h.SkipTests
	added.IgnoreMissing = h.IgnoreMissingValueFiles
	for _, file := range h.ValueFiles {
		name, err := a.readable(i, file, known)
		if err != nil {
			return added, err
		}
		added.ValueFiles = append(added.ValueFiles, name)
	}
	var err error
	if added.Values, err = h.values(); err != nil {
		return added, a.refuse(manifest.BadValues, "%v", err)
	}
	for _, p := range h.Parameters {
		added.Parameters = append(added.Parameters, manifest.HelmParameter{Name: p.Name, Value: a.substituted(i, p.Value), Text: p.ForceString})
	}
	for _, p := range h.FileParameters {
		name, err := a.readable(i, p.Path, known)
		if err != nil {
			return added, err
		}
		added.FileParameters = append(added.FileParameters, manifest.HelmFileParameter{Name: p.Name, File: name})
	}
	return added, nil
}

// values are those of the object, if there is one, otherwise those of the text.
func (h Helm) values() (map[string]any, error) {
	if len(h.ValuesObject) > 0 {
		return h.ValuesObject, nil
	}
	var values map[string]any
	if err := k8syaml.Unmarshal([]byte(h.Values), &values); err != nil {
		return nil, fmt.Errorf("its helm.values are no YAML map")
	}
	return values, nil
}

// readable is the path of a value file, if it is one of this tree.
func (a Application) readable(i int, file string, known Known) (string, error) {
	from, name, ok := a.valueFile(i, file)
	switch {
	case !ok:
		return "", a.refuse(manifest.RemoteBase, "its value file %s is not in the repository", file)
	case !known.has(from):
		return "", a.refuse(manifest.RemoteBase, "its value file %s is in another repository, %s", file, withoutUser(from.RepoURL))
	case !known.follows(from.TargetRevision):
		return "", a.refuse(manifest.RemoteBase, "its value file %s is that of the revision %s, not what is on %s", file, from.TargetRevision, known.Branch)
	}
	return name, nil
}

func (a Application) directory(i int) (manifest.DirectoryAdditions, error) {
	d := a.Sources[i].Directory
	if d == nil {
		return manifest.DirectoryAdditions{}, nil
	}
	added := manifest.DirectoryAdditions{Recurse: d.Recurse}
	include, err := compileGlob(d.Include, globStyle{braces: true})
	if err != nil {
		return added, a.refuse(manifest.BadValues, "directory.include: %v", err)
	}
	exclude, err := compileGlob(d.Exclude, globStyle{braces: true})
	if err != nil {
		return added, a.refuse(manifest.BadValues, "directory.exclude: %v", err)
	}
	added.Takes = func(name string) bool {
		return (d.Exclude == "" || !exclude.MatchString(name)) && (d.Include == "" || include.MatchString(name))
	}
	return added, nil
}

func (a Application) substitutedAll(i int, texts map[string]string) map[string]string {
	all := make(map[string]string, len(texts))
	for name, text := range texts {
		all[name] = a.substituted(i, text)
	}
	return all
}
