package overlays

import (
	"fmt"
	"io/fs"
	"strings"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/sluicehq/sluice/internal/manifest"
	"github.com/sluicehq/sluice/internal/promotion"
)

// SetFields implements promotion.Manifests.
func (o Overlays) SetFields(tree fs.FS, path string, fields []promotion.AdoptedField) (promotion.Change, error) {
	wanted := make([]manifest.Field, len(fields))
	for i, f := range fields {
		wanted[i] = manifest.Field{Object: objectNamed(f.Object), Path: f.Path, Steps: f.Steps}
		if err := json.Unmarshal([]byte(f.Value), &wanted[i].Value); err != nil {
			return promotion.Change{}, fmt.Errorf("the value of %s of %s is not JSON: %w", f.Path, f.Object, err)
		}
	}
	edit, err := manifest.SetFields(tree, path, wanted)
	if err != nil {
		return promotion.Change{}, err
	}
	change := pinned(compared(edit.Before, edit.After), tree, tree, path)
	change.Files = edit.Files
	return change, nil
}

// objectNamed reads Kind.group namespace/name.
func objectNamed(text string) manifest.ID {
	kind, name, _ := strings.Cut(text, " ")
	id := manifest.ID{Name: name}
	id.Kind, id.Group, _ = strings.Cut(kind, ".")
	if namespace, name, ok := strings.Cut(name, "/"); ok {
		id.Namespace, id.Name = namespace, name
	}
	return id
}
