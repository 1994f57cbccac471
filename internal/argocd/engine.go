package argocd

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"

	"github.com/sluicehq/sluice/internal/manifest"
	"github.com/sluicehq/sluice/internal/promotion"
)

// Engine implements promotion.Engine for Argo CD.
type Engine struct{}

var _ promotion.Engine = Engine{}

func applicationFrom(document []byte) (Application, error) {
	var object map[string]any
	if err := json.Unmarshal(document, &object); err != nil {
		return Application{}, fmt.Errorf("read the Argo CD Application: %w", err)
	}
	return ReadApplication(object)
}

// Deploys implements promotion.Engine.
func (Engine) Deploys(application []byte, repositoryURL, branch string) ([]string, error) {
	a, err := applicationFrom(application)
	if err != nil {
		return nil, err
	}
	var paths []string
	for folder, linked := range Link([]Application{a}, repositoryURL, branch) {
		for _, l := range linked {
			if l.FollowsBase {
				paths = append(paths, folder)
				break
			}
		}
	}
	return paths, nil
}

// Prunes implements promotion.Engine.
func (Engine) Prunes(application []byte) bool {
	a, err := applicationFrom(application)
	return err != nil || a.SyncPolicy.IsAutomated() && a.SyncPolicy.Automated.Prune
}

// Overrides implements promotion.Engine. Named fields come first; what takes an image's place in another way, such as a patch,
// shows in the rendering.
func (Engine) Overrides(tree fs.FS, folder string, application []byte, repositoryURL, branch string, images []promotion.WantedImage) ([]string, error) {
	a, err := applicationFrom(application)
	if err != nil {
		return nil, err
	}
	known := Known{RepositoryURL: repositoryURL, Branch: branch}
	var promoted []Promoted
	for _, i := range images {
		repository := promotion.RepositoryOf(i.Reference)
		promoted = append(promoted, Promoted{Name: path.Base(repository), Repository: repository})
	}
	named, err := OverridesOf(tree, a, promoted, known)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, o := range named {
		found = append(found, o.Error())
	}
	if len(found) > 0 {
		return found, nil
	}
	for _, l := range Link([]Application{a}, repositoryURL, branch)[path.Clean(folder)] {
		hidden, err := l.hides(tree, folder, known, promoted)
		if err != nil {
			return nil, err
		}
		found = append(found, hidden...)
	}
	return found, nil
}

// hides renders the folder with and without what the Application adds.
func (l Linked) hides(tree fs.FS, folder string, known Known, promoted []Promoted) ([]string, error) {
	part, err := l.Part(tree, known)
	if err != nil {
		return nil, err
	}
	without, err := manifest.Render(tree, folder)
	if err != nil {
		return nil, err
	}
	with, err := manifest.RenderWith(tree, part.Folder, part.Additions)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, image := range manifest.OverriddenImages(without, with) {
		for _, p := range promoted {
			if promotion.RepositoryOf(image.Reference) == p.Repository {
				found = append(found, fmt.Sprintf("Argo CD Application %s replaces %s in %s: promoting it here changes nothing", l.Name, image.Reference, image.Object))
			}
		}
	}
	return found, nil
}
