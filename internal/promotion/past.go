package promotion

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// How much of the past is imported when a target is first seen, so that what it ran before Sluice can be asked, and gone
// back to. Rendering takes milliseconds, so a repository of thousands of targets gets less of each.
const (
	pastRevisions  = 50 // of one target, at most
	pastRenderings = 20_000
	pastDepth      = 20_000 // commits of main
)

// sight is what a target rendered at a commit.
type sight struct {
	commit    Commit
	rendering Rendering
}

// readPast finds the commits that touched the targets not known before.
func (v *visit) readPast(ctx context.Context) (err error) {
	shared, err := v.sharedFolders()
	if err != nil {
		return err
	}
	places := map[string][]string{}
	for _, t := range v.found {
		if _, known := v.known[t.Path]; known {
			continue
		}
		own, err := v.foldersOf(t)
		if err != nil {
			return err
		}
		places[t.Path] = append(own, shared...)
	}
	if len(places) == 0 {
		return nil
	}
	each := min(pastRevisions, max(2, pastRenderings/len(places)))
	if v.past, err = v.site.Repository.Touching(ctx, v.status.Head, places, each, pastDepth); err != nil {
		return err
	}
	for name := range places {
		if len(v.past[name]) == 0 && len(v.commits) > 0 {
			v.past[name] = v.commits[len(v.commits)-1:]
		}
	}
	return nil
}

// sharedFolders are the top folders that hold no applications: components and bases of several.
func (v *visit) sharedFolders() ([]string, error) {
	entries, err := fs.ReadDir(v.tree, ".")
	if err != nil {
		return nil, fmt.Errorf("list the repository: %w", err)
	}
	var shared []string
	for _, e := range entries {
		below := func(root string) bool { return strings.HasPrefix(root+"/", e.Name()+"/") }
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.ContainsFunc(v.rules.Layout().Roots, below) {
			shared = append(shared, e.Name())
		}
	}
	return shared, nil
}

// foldersOf are the target's overlay and what its application's overlays share.
func (v *visit) foldersOf(t Target) ([]string, error) {
	overlays := path.Dir(t.Path)
	folder := path.Dir(overlays)
	entries, err := fs.ReadDir(v.tree, folder)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", folder, err)
	}
	own := []string{t.Path}
	for _, e := range entries {
		if name := path.Join(folder, e.Name()); name != overlays {
			own = append(own, name)
		}
	}
	return own, nil
}

// mayChange tells whether a change of these files can alter what a target renders: one in its application's folder, or one
// that belongs to no application at all.
func mayChange(t Target, all []Target, files []string) bool {
	owner := func(file string) string {
		for _, o := range all {
			if folder := path.Dir(path.Dir(o.Path)) + "/"; o.Repository == t.Repository && strings.HasPrefix(file, folder) {
				return folder
			}
		}
		return ""
	}
	own := path.Dir(path.Dir(t.Path)) + "/"
	return slices.ContainsFunc(files, func(file string) bool {
		return strings.HasPrefix(file, own) || owner(file) == ""
	})
}

// renderAll renders every target at every commit that may have changed it. One that cannot be rendered at a commit wanted
// nothing new there; the target's page says so while it lasts.
func (v *visit) renderAll(ctx context.Context) error {
	v.seen = map[string][]sight{}
	trees := map[string]fs.FS{}
	type work struct {
		path   string
		at     int
		commit Commit
	}
	var all []work
	for _, t := range v.found {
		commits := v.touching(t)
		if len(commits) > 0 {
			v.seen[t.Path] = make([]sight, len(commits))
		}
		for i, c := range commits {
			if _, ok := trees[c.SHA]; !ok {
				tree, err := v.site.Repository.Tree(ctx, c.SHA)
				if err != nil {
					return err
				}
				trees[c.SHA] = tree
			}
			all = append(all, work{t.Path, i, c})
		}
	}
	var wait sync.WaitGroup
	next := make(chan work)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for w := range next {
				if r, err := v.Manifests.Render(trees[w.commit.SHA], w.path); err == nil && ctx.Err() == nil {
					v.seen[w.path][w.at] = sight{w.commit, r}
				}
			}
		})
	}
	for _, w := range all {
		next <- w
	}
	close(next)
	wait.Wait()
	for name, seen := range v.seen {
		v.seen[name] = slices.DeleteFunc(seen, func(s sight) bool { return s.rendering.Hash == "" })
		if len(v.seen[name]) == 0 {
			v.seen[name] = []sight{} // looked at, and broken at each of them
		}
	}
	return ctx.Err()
}
