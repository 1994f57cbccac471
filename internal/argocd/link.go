package argocd

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Linked is an Application that deploys a folder of a config repository.
type Linked struct {
	Application
	Source int    // index in Sources of what renders the folder
	Path   string // the folder, relative to the repository's root
	// Values says that the folder holds value files of the source's chart, and does
	// not render by itself.
	Values bool
	// Revision is followed where the folder is read; empty means HEAD. FollowsBase
	// tells whether that is the base branch: another branch, a tag or a commit does
	// not deploy what is merged there.
	Revision    string
	FollowsBase bool
}

// Doubt says why a merge to the base branch does not reach the Application;
// empty if it does.
func (l Linked) Doubt() string {
	if l.FollowsBase {
		return ""
	}
	return fmt.Sprintf("Application %s is pinned to %s, so a merge to the base branch does not reach it", l.Name, l.Revision)
}

// Part is what renders the folder, without the Application's other sources. The
// error is a *manifest.Refusal.
func (l Linked) Part(fsys fs.FS, known Known) (Part, error) { return l.part(fsys, l.Source, known) }

// Link finds which Applications deploy which folders of a repository, in the
// order of the Applications. A folder is one that a source renders, or one that
// holds value files of a source's chart, in whichever repository the chart is.
func Link(applications []Application, repositoryURL, baseBranch string) map[string][]Linked {
	known := Known{RepositoryURL: repositoryURL, Branch: baseBranch}
	links := map[string][]Linked{}
	for _, a := range applications {
		for i := range a.Sources {
			for _, l := range a.links(i, known) {
				links[l.Path] = append(links[l.Path], l)
			}
		}
	}
	return links
}

// links are the folders of one source, each once.
func (a Application) links(i int, known Known) []Linked {
	var found []Linked
	add := func(folder, revision string, values bool) {
		l := Linked{a, i, folder, values, revision, known.follows(revision)}
		if !slices.ContainsFunc(found, func(o Linked) bool { return o.Path == folder }) {
			found = append(found, l)
		}
	}
	s := a.Sources[i]
	if known.has(s) && s.renders() {
		add(cleanPath(s.Path), s.TargetRevision, false)
	}
	if s.Helm == nil {
		return found
	}
	for _, file := range s.Helm.ValueFiles {
		from, name, ok := a.valueFile(i, file)
		if folder := path.Dir(name); ok && known.has(from) && !strings.ContainsAny(folder, "*?[{") {
			add(folder, from.TargetRevision, true)
		}
	}
	return found
}

// has tells whether a source reads the repository itself and not charts of a
// Helm repository at the same address.
func (k Known) has(s Source) bool {
	return s.Chart == "" && promotion.SameRepository(k.RepositoryURL, s.RepoURL)
}

// renders tells whether a source gives manifests: one that has only a ref holds
// value files for others.
func (s Source) renders() bool { return s.Path != "" || s.Chart != "" || s.Ref == "" }

// valueFile resolves a value file or file parameter of source i to the source
// that it is read from and its path there; ok is false for a URL, a path that
// leaves the repository, and a ref that no source has.
func (a Application) valueFile(i int, file string) (from Source, name string, ok bool) {
	s := a.Sources[i]
	if ref, rest, found := strings.Cut(file, "/"); found && strings.HasPrefix(ref, "$") {
		for _, other := range a.Sources {
			if other.Ref != "" && "$"+other.Ref == ref && other.Chart == "" {
				name = path.Clean(strings.TrimPrefix(a.substituted(i, rest), "/"))
				return other, name, inTree(name)
			}
		}
		if a.substituted(i, ref) == "" {
			return Source{}, "", false
		}
	}
	file = a.substituted(i, file)
	switch {
	case strings.Contains(file, "://"):
		return Source{}, "", false
	case path.IsAbs(file):
		name = strings.TrimPrefix(path.Clean(file), "/")
	default:
		name = path.Join(cleanPath(s.Path), file)
	}
	return s, name, inTree(name)
}

func inTree(name string) bool {
	name = path.Clean(name)
	return name != ".." && !strings.HasPrefix(name, "../") && !path.IsAbs(name)
}

// cleanPath is a source's path as a folder relative to the root; "." for the root.
func cleanPath(name string) string { return path.Clean(strings.Trim(name, "/")) }
