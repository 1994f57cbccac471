package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/openapi"
)

// kustomizationNames are the file names that kustomize looks for, in its order.
var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// maxMessage is how many bytes of a renderer's error are passed on.
const maxMessage = 600

// openapiLock guards the schema that kyaml keeps for the whole process: an
// overlay that brings its own must not lend it to another's rendering.
var openapiLock sync.RWMutex

// Render renders the folder dir of fsys: a kustomization as `kustomize build`
// does, Helm values with the application's chart and a chart with its own
// values as `helm template --skip-tests` does, otherwise the manifests in the
// folder. The error is a *Refusal, or what reading fsys returned.
func Render(fsys fs.FS, dir string) (Rendered, error) {
	t := newTree(fsys)
	real, layout, err := t.layout(dir)
	if err != nil {
		return Rendered{}, err
	}
	return renderLayout(t, real, layout)
}

func renderLayout(t *tree, real string, layout Layout) (Rendered, error) {
	switch layout {
	case Kustomize:
		// Two documents or a doubled key matter to an edit only: kustomize takes
		// the first document and the last key.
		refusals := slices.DeleteFunc(scan(t, real).refusals, func(r *Refusal) bool {
			return r.Code == MultiDocument || r.Code == DuplicateKey
		})
		if err := first(refusals); err != nil {
			return Rendered{}, err
		}
		return kustomize(t, real)
	case Helm:
		h, err := t.helmTarget(real)
		if err != nil {
			return Rendered{}, err
		}
		return h.render(t)
	}
	return renderPlain(t, real)
}

// layout resolves an overlay folder and says how it is rendered.
func (t *tree) layout(dir string) (string, Layout, error) {
	real, isDir, err := t.resolve(dir)
	var escape *Refusal
	switch {
	case errors.As(err, &escape):
		return "", "", escape
	case err != nil || !isDir:
		return "", "", refuse(NoKustomization, path.Clean(dir), 0, "there is no such folder")
	}
	names, err := t.list(real)
	if err != nil {
		return "", "", fmt.Errorf("read folder %s: %w", real, err)
	}
	layout := layoutOf(names)
	if layout == "" {
		return "", "", refuse(NoKustomization, real, 0, "the folder has no kustomization file")
	}
	return real, layout, nil
}

// kustomize renders a scanned overlay.
func kustomize(t *tree, dir string) (Rendered, error) {
	if t.unscanned != nil {
		return Rendered{}, t.unscanned
	}
	resources, err := build(t, dir)
	if err != nil {
		switch {
		case t.refusal != nil:
			return Rendered{}, t.refusal
		case types.IsErrOnlyBuiltinPluginsAllowed(err):
			return Rendered{}, refuse(UnsupportedPlugin, dir, 0, "%v", err)
		}
		return Rendered{}, refuse(RenderFailed, dir, 0, "kustomize cannot render the overlay: %s", brief(err))
	}
	objects := make([]Object, 0, resources.Size())
	for _, resource := range resources.Resources() {
		data, err := resource.MarshalJSON()
		if err != nil {
			return Rendered{}, refuse(RenderFailed, dir, 0, "%v: %v", resource.CurId(), err)
		}
		var content map[string]any
		if err := json.Unmarshal(data, &content); err != nil {
			return Rendered{}, refuse(RenderFailed, dir, 0, "%v: %v", resource.CurId(), err)
		}
		objects = append(objects, newObject(content))
	}
	return newRendered(objects), nil
}

// build runs kustomize. It panics on some malformed input, which is a refusal
// like any other error.
func build(t *tree, dir string) (resources resmap.ResMap, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("kustomize panicked: %v", p)
		}
	}()
	if t.ownSchema {
		openapiLock.Lock()
		defer openapiLock.Unlock()
		openapi.ResetOpenAPI()
		defer openapi.ResetOpenAPI()
	} else {
		openapiLock.RLock()
		defer openapiLock.RUnlock()
	}
	options := krusty.MakeDefaultOptions()
	return krusty.MakeKustomizer(options).Run(kustomizeFS{t}, path.Join(mount, dir))
}

// literals are the values of a generator, which may be secrets.
var literals = regexp.MustCompile(`(?s)literal sources? .*`)

// brief makes an error of kustomize or Helm fit for people: one line, without
// the place where the tree is mounted, and without the configuration that
// kustomize appends, since a generator's holds the Secret itself.
func brief(err error) string {
	text, _, _ := strings.Cut(err.Error(), " with config: `")
	text = literals.ReplaceAllString(text, "the literals of a generator are not all of the form key=value")
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, mount+"/", "")), " ")
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}
