package argocd_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluicehq/sluice/internal/argocd"
)

const (
	repository = "https://git.example.com/shop/config.git"
	server     = "https://kubernetes.default.svc"
)

// here is what is known of the repository under test.
var here = argocd.Known{RepositoryURL: repository, Branch: "main"}

// files makes a tree of text files.
func files(pairs ...string) fstest.MapFS {
	tree := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		tree[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1]), Mode: 0o644}
	}
	return tree
}

func read(t testing.TB, fsys fs.FS) argocd.Found {
	t.Helper()
	found, err := argocd.Read(fsys)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range found.Problems {
		t.Errorf("unexpected problem: %v", p)
	}
	return found
}

// application reads one that is written in YAML.
func application(t testing.TB, text string) argocd.Application {
	t.Helper()
	found := read(t, files("app.yaml", "apiVersion: argoproj.io/v1alpha1\nkind: Application\n"+text))
	if len(found.Applications) != 1 {
		t.Fatalf("%d Applications", len(found.Applications))
	}
	return found.Applications[0]
}

// expand reads the ApplicationSets of a tree and expands them.
func expand(t testing.TB, fsys fs.FS, known argocd.Known) argocd.Expansion {
	t.Helper()
	e, err := argocd.Expand(fsys, read(t, fsys).ApplicationSets, known)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func names(applications []argocd.Application) string {
	var all []string
	for _, a := range applications {
		all = append(all, a.Name)
	}
	return strings.Join(all, " ")
}
