package argocd

import (
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxSets bounds the sets of parameters that one generator gives.
const maxSets = 20_000

// Cluster is one that Argo CD knows, with the labels and annotations of its
// Secret; the labels are nil for the local cluster when it has no Secret.
type Cluster struct {
	Name, Server, Project string
	Labels, Annotations   map[string]string
}

// Known is what an expansion needs besides the tree.
type Known struct {
	RepositoryURL string    // of the repository that the tree is from
	Branch        string    // that the tree is of
	Clusters      []Cluster // nil where nobody said which there are
}

// follows tells whether a revision is what the tree is of.
func (k Known) follows(revision string) bool {
	return revision == "" || revision == "HEAD" || k.Branch != "" && strings.TrimPrefix(revision, "refs/heads/") == k.Branch
}

// Expansion is what ApplicationSets make.
type Expansion struct {
	Applications []Application
	Unexpanded   []Unexpanded // what else there may be
	Notes        []Problem    // what depends on Argo CD's settings
}

// Unexpanded is a generator whose Applications are not or not all known, and why.
type Unexpanded struct {
	ApplicationSet string
	Place
	Generator string // such as "clusters"
	Reason    string
}

func (u Unexpanded) String() string {
	return Problem{u.Place, fmt.Sprintf("the generator %s of ApplicationSet %s: %s", u.Generator, u.ApplicationSet, u.Reason)}.String()
}

// Expand makes the Applications of ApplicationSets over a tree of files, in the
// order of the sets and their parameters. What cannot be known here is listed as
// unexpanded. The error is what listing fsys returned.
func Expand(fsys fs.FS, sets []ApplicationSet, known Known) (Expansion, error) {
	var all Expansion
	if len(sets) == 0 {
		return all, nil
	}
	files, err := newListing(fsys)
	if err != nil {
		return all, err
	}
	for _, s := range sets {
		e := &expander{set: s, known: known, files: files, filler: newFiller(s), names: map[string]bool{}}
		for i, g := range s.Generators {
			e.at = Place{s.File, s.LineOf("spec", "generators", strconv.Itoa(i))}
			if err := e.expand(g); err != nil {
				all.Unexpanded = append(all.Unexpanded, Unexpanded{s.Name, e.at, g.kind(), err.Error()})
			}
		}
		all.Applications = append(all.Applications, e.made...)
		all.Notes = append(all.Notes, e.notes...)
	}
	return all, nil
}

// expander expands one ApplicationSet.
type expander struct {
	set    ApplicationSet
	known  Known
	files  *listing
	filler *filler
	at     Place // of the generator in hand
	names  map[string]bool
	made   []Application
	notes  []Problem
}

// expand makes what it can and returns the first error.
func (e *expander) expand(g Generator) error {
	sets, err := e.parameters(g)
	if err != nil {
		return err
	}
	template := over(g.template(), e.set.Template)
	var first error
	for _, parameters := range sets {
		a, err := e.application(template, parameters)
		if err == nil && e.names[a.Name] {
			err = fmt.Errorf("it makes a second Application named %s", a.Name)
		}
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		e.names[a.Name] = true
		e.made = append(e.made, a)
	}
	return first
}

func (e *expander) application(template, parameters map[string]any) (Application, error) {
	object, err := e.filler.object(template, parameters)
	if err != nil {
		return Application{}, err
	}
	if e.set.TemplatePatch != "" {
		if object, err = e.patch(object, parameters); err != nil {
			return Application{}, err
		}
	}
	_, node := child(e.set.node, "spec")
	key, node := child(node, "template")
	at := e.set.Place
	if key != nil {
		at.Line = key.Line
	}
	a, err := readApplication(object, at, node)
	if err != nil {
		return Application{}, err
	}
	if a.Name == "" {
		return Application{}, fmt.Errorf("the template gives an Application no name")
	}
	a.Namespace = e.set.Namespace
	a.From = &Origin{e.set.Name, e.set.Place}
	return a, nil
}

func (e *expander) note(format string, args ...any) {
	p := Problem{e.at, fmt.Sprintf("ApplicationSet %s: ", e.set.Name) + fmt.Sprintf(format, args...)}
	if !slices.Contains(e.notes, p) {
		e.notes = append(e.notes, p)
	}
}

// withoutUser leaves names and passwords out of an address.
func withoutUser(address string) string {
	if u, err := url.Parse(address); err == nil && u.User != nil {
		u.User = nil
		return u.String()
	}
	return address
}
