package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	k8syaml "sigs.k8s.io/yaml"
)

// KustomizeAdditions are what an Application adds to a kustomization. Argo CD
// writes them into a copy of the kustomization file by `kustomize edit`, so that
// an image, a replica count, a prefix or a namespace takes the place of what the
// file says under the same name.
type KustomizeAdditions struct {
	NamePrefix, NameSuffix string
	Namespace              string
	Images                 []string // [name=]repository[:tag][@digest], * for what is to stay
	Replicas               []types.Replica
	Labels                 map[string]string
	LabelsWithoutSelectors bool
	LabelsInTemplates      bool // only LabelsWithoutSelectors
	ForceLabels            bool // over those of the file
	Annotations            map[string]string
	ForceAnnotations       bool
	Patches                []types.Patch
	Components             []string // folders relative to the kustomization
	IgnoreMissing          bool     // components
}

func (a KustomizeAdditions) isZero() bool {
	return a.NamePrefix == "" && a.NameSuffix == "" && a.Namespace == "" && len(a.Images) == 0 && len(a.Replicas) == 0 &&
		len(a.Labels) == 0 && len(a.Annotations) == 0 && len(a.Patches) == 0 && len(a.Components) == 0
}

func (a KustomizeAdditions) render(t *tree, dir string) (Rendered, error) {
	if a.isZero() {
		return renderLayout(t, dir, Kustomize)
	}
	s := scan(t, dir)
	if s.overlay == nil {
		return renderLayout(t, dir, Kustomize) // which says why there is none
	}
	k := types.Kustomization{}
	if err := k.Unmarshal(s.overlay.data); err != nil {
		return Rendered{}, refuse(BadKustomization, s.overlay.name, 0, "kustomize refuses the file: %v", err)
	}
	k.FixKustomization()
	if err := a.apply(t, dir, &k); err != nil {
		return Rendered{}, refuse(RenderFailed, s.overlay.name, 0, "what the Application adds: %v", err)
	}
	data, err := k8syaml.Marshal(k)
	if err != nil {
		return Rendered{}, refuse(RenderFailed, s.overlay.name, 0, "what the Application adds: %v", err)
	}
	rendered, err := renderLayout(t.edited(map[string][]byte{s.overlay.name: data}), dir, Kustomize)
	var r *Refusal
	if errors.As(err, &r) && r.File == s.overlay.name && r.Line > 0 {
		// The line is one of the file in memory.
		return Rendered{}, refuse(r.Code, r.File, 0, "with what the Application adds: %s", r.Message)
	}
	return rendered, err
}

// apply makes the changes in Argo CD's order.
func (a KustomizeAdditions) apply(t *tree, dir string, k *types.Kustomization) error {
	if a.NamePrefix != "" {
		k.NamePrefix = a.NamePrefix
	}
	if a.NameSuffix != "" {
		k.NameSuffix = a.NameSuffix
	}
	if err := a.setImages(k); err != nil {
		return err
	}
	for _, replica := range a.Replicas {
		k.Replicas = slices.DeleteFunc(k.Replicas, func(r types.Replica) bool { return r.Name == replica.Name })
		k.Replicas = append(k.Replicas, replica)
	}
	if err := a.addLabels(k); err != nil {
		return err
	}
	var err error
	if k.CommonAnnotations, err = added("annotation", k.CommonAnnotations, a.Annotations, a.ForceAnnotations); err != nil {
		return err
	}
	if a.Namespace != "" {
		k.Namespace = a.Namespace
	}
	k.Patches = append(k.Patches, a.Patches...)
	for _, component := range a.Components {
		if _, _, err := t.resolve(path.Join(dir, component)); errors.Is(err, fs.ErrNotExist) && a.IgnoreMissing {
			continue
		}
		if !slices.Contains(k.Components, component) {
			k.Components = append(k.Components, component)
		}
	}
	return nil
}

// setImages does what `kustomize edit set image` does: an entry takes the place of
// the one with its name, whole, and all are sorted by name.
func (a KustomizeAdditions) setImages(k *types.Kustomization) error {
	if len(a.Images) == 0 {
		return nil
	}
	entries := map[string]types.Image{}
	for _, text := range a.Images {
		image, err := ParseImageOverride(text)
		if err != nil {
			return err
		}
		entries[image.Name] = image
	}
	for _, image := range k.Images {
		override, overridden := entries[image.Name]
		if !overridden {
			entries[image.Name] = image
			continue
		}
		for part, own := range map[*string]string{&override.NewName: image.NewName, &override.NewTag: image.NewTag, &override.Digest: image.Digest} {
			if *part == "*" {
				*part = own
			}
		}
		entries[image.Name] = override
	}
	k.Images = nil
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		image := entries[name]
		for _, part := range []*string{&image.NewName, &image.NewTag, &image.Digest} {
			if *part == "*" {
				*part = ""
			}
		}
		k.Images = append(k.Images, image)
	}
	return nil
}

// ParseImageOverride reads an image as `kustomize edit set image` takes it:
// [name=]repository[:tag][@digest].
func ParseImageOverride(text string) (types.Image, error) {
	name, value, renamed := strings.Cut(text, "=")
	if !renamed {
		value = text
	}
	ref := splitReference(value)
	if value == "" || !renamed && ref.repository == text {
		return types.Image{}, fmt.Errorf("the image %q is not of the form [name=]repository[:tag][@digest]", text)
	}
	image := types.Image{Name: ref.repository, NewTag: ref.tag, Digest: ref.digest}
	if renamed {
		image.Name, image.NewName = name, ref.repository
	}
	return image, nil
}

func (a KustomizeAdditions) addLabels(k *types.Kustomization) error {
	if len(a.Labels) == 0 {
		return nil
	}
	if a.LabelsInTemplates && !a.LabelsWithoutSelectors {
		return errors.New("labelIncludeTemplates needs labelWithoutSelector")
	}
	var err error
	if !a.LabelsWithoutSelectors {
		k.CommonLabels, err = added("label", k.CommonLabels, a.Labels, a.ForceLabels) //nolint:staticcheck // it is where kustomize looks for labels that are there
		return err
	}
	for i, label := range k.Labels {
		if !label.IncludeSelectors && label.IncludeTemplates == a.LabelsInTemplates {
			k.Labels[i].Pairs, err = added("label", label.Pairs, a.Labels, a.ForceLabels)
			return err
		}
	}
	k.Labels = append(k.Labels, types.Label{Pairs: a.Labels, IncludeTemplates: a.LabelsInTemplates})
	return nil
}

// added refuses what is there already, unless it is forced.
func added(what string, own, more map[string]string, force bool) (map[string]string, error) {
	if len(more) == 0 {
		return own, nil
	}
	all := maps.Clone(own)
	if all == nil {
		all = map[string]string{}
	}
	for _, name := range slices.Sorted(maps.Keys(more)) {
		if _, there := own[name]; there && !force {
			return nil, fmt.Errorf("the kustomization has the %s %s already", what, name)
		}
		all[name] = more[name]
	}
	return all, nil
}
