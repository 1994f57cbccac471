package argocd

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Faults implements promotion.Engine: what cannot be read, what ApplicationSets may make besides what is known, and Applications
// that deploy another revision than the base branch, or a folder that is not there.
func (Engine) Faults(tree fs.FS, repositoryURL, branch string) ([]promotion.EngineFault, error) {
	found, err := Read(tree)
	if err != nil {
		return nil, err
	}
	expanded, err := Expand(tree, found.ApplicationSets, Known{RepositoryURL: repositoryURL, Branch: branch})
	if err != nil {
		return nil, err
	}
	faults := []promotion.EngineFault{}
	add := func(at Place, message string) {
		f := promotion.EngineFault{File: at.File, Line: at.Line, Message: message}
		if !slices.Contains(faults, f) {
			faults = append(faults, f)
		}
	}
	for _, p := range slices.Concat(found.Problems, expanded.Notes) {
		add(p.Place, p.Message)
	}
	for _, u := range expanded.Unexpanded {
		add(u.Place, fmt.Sprintf("the generator %s of ApplicationSet %s: %s", u.Generator, u.ApplicationSet, u.Reason))
	}
	for folder, links := range Link(append(found.Applications, expanded.Applications...), repositoryURL, branch) {
		info, err := fs.Stat(tree, folder)
		for _, l := range links {
			switch {
			case !l.FollowsBase:
				add(l.Place, l.Doubt())
			case err != nil || !info.IsDir():
				add(l.Place, fmt.Sprintf("Application %s deploys %s, and there is no such folder", l.Name, folder))
			}
		}
	}
	slices.SortFunc(faults, func(a, b promotion.EngineFault) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, strings.Compare(a.Message, b.Message))
	})
	return faults, nil
}
