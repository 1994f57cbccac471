package gitrepo_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/gitrepo"
)

// pointer is what Git LFS keeps in place of a file.
const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"

func TestOddFilesDoNotGetInTheWay(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	overlays := filepath.Dir(filepath.Dir(prod))
	for name, target := range map[string]string{"link": "README.md", overlays + "/outside": "../../../../../../etc/passwd", overlays + "/qa": "prod"} {
		if err := os.Symlink(target, filepath.Join(r.worktree, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, module := range []string{"module", filepath.Dir(prod) + "/module"} {
		if err := os.MkdirAll(filepath.Join(r.worktree, module), 0o755); err != nil { // as in a clone
			t.Fatal(err)
		}
		r.run(r.worktree, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+","+module)
	}
	r.commit("caf\xe9", map[string]string{"caf\xe9/\xff.yaml": "x", filepath.Dir(prod) + "/caf\xe9.yaml": "y", overlays + "/stored.yaml": pointer})
	m := r.mirror()
	head := fetch(t, m)
	if modules := strings.Count(r.run(r.bare, "ls-tree", "-r", head), "160000 commit"); modules != 2 {
		t.Fatalf("%d submodules are there", modules)
	}
	if err := readAll(m, head); err != nil {
		t.Error(err)
	}
	commits, err := m.Commits(context.Background(), "", head, 1)
	if err != nil || len(commits) != 1 || strings.ToValidUTF8(fmt.Sprint(commits), "") != fmt.Sprint(commits) {
		t.Errorf("a commit with other than UTF-8: %q, %v", commits, err)
	}
	commit := propose(t, m, proposal(head, "sluice/odd", "new"))
	if got := r.run(r.bare, "diff", "--raw", head, commit); strings.Count(got, "\n") != 0 || !strings.HasSuffix(got, prod) {
		t.Errorf("a proposal changed more than its file:\n%s", got)
	}
	tree, err := m.Tree(context.Background(), commit)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := fs.ReadFile(tree, overlays+"/stored.yaml"); err != nil || string(got) != pointer {
		t.Errorf("an LFS pointer reads %q, %v", got, err)
	}
	for _, link := range []string{"/outside", "/qa/kustomization.yaml"} {
		if got, err := fs.ReadFile(tree, overlays+link); err == nil {
			t.Errorf("a link was followed to %q", got)
		}
	}
	for _, path := range []string{overlays + "/qa/kustomization.yaml", overlays + "/outside", filepath.Dir(prod) + "/module/x"} {
		p := proposal(head, "sluice/through", "")
		p.Files = map[string][]byte{path: []byte("x")}
		if _, err := m.Propose(context.Background(), p); err == nil {
			t.Errorf("%s was written", path)
		}
	}
}

func TestWithoutTheBaseBranchTheOthersAreNamed(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	m := r.mirror()
	old := fetch(t, m)
	for n := range 20 {
		r.run(r.bare, "branch", fmt.Sprint("b", n), "main")
	}
	r.run(r.bare, "branch", "-m", "main", "trunk")
	_, err := m.Fetch(context.Background())
	if err == nil || !strings.Contains(err.Error(), "no branch main: set this repository's base branch to one that it has (trunk (its default), b0, b1,") ||
		!strings.Contains(err.Error(), "11 more") {
		t.Errorf("Fetch() without the base branch: %v", err)
	}
	if err := readAll(m, old); err != nil {
		t.Errorf("what was known before: %v", err)
	}
	o := r.options()
	if _, err := gitrepo.Open(context.Background(), o); err == nil || !strings.Contains(err.Error(), "trunk (its default)") {
		t.Errorf("Open() without the base branch: %v", err)
	}
	o.Branch = "trunk"
	if head := fetch(t, open(t, o)); head != old {
		t.Errorf("with the new name Fetch() = %s, want %s", head, old)
	}
}

func TestOnlyTheBaseBranchAndOwnOnesAreFetched(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	var refs strings.Builder
	for n := range 2000 {
		fmt.Fprintf(&refs, "commit refs/heads/person/%d\ncommitter Ada <a@example.com> 1700000000 +0000\ndata 1\nx\nfrom main^0\n", n)
		fmt.Fprintf(&refs, "M 100644 inline person.txt\ndata <<E\n%d\nE\n", n)
	}
	cmd := r.command(r.bare, "fast-import", "--quiet")
	cmd.Stdin = strings.NewReader(refs.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	o := r.options()
	m := open(t, o)
	propose(t, m, proposal(fetch(t, m), branch, "new"))
	fetch(t, m)
	if got, want := r.run(o.Dir, "for-each-ref", "--format=%(refname)"), "refs/heads/main\nrefs/heads/"+branch; got != want {
		t.Errorf("the mirror has\n%s\nwant\n%s", got, want)
	}
	if got := r.run(o.Dir, "rev-list", "--all", "--count"); got != "2" {
		t.Errorf("the mirror has %s commits, want 2", got)
	}
}

func TestARemoteThatBorrowsObjects(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	lender := filepath.Join(filepath.Dir(r.bare), "lender.git")
	r.run(filepath.Dir(r.bare), "clone", "--quiet", "--bare", r.bare, lender)
	r.run(filepath.Dir(r.bare), "clone", "--quiet", "--bare", "--shared", lender, r.bare+".borrows")
	if err := os.RemoveAll(r.bare); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(r.bare+".borrows", r.bare); err != nil {
		t.Fatal(err)
	}
	r.run(r.bare, "config", "http.receivepack", "true")
	m := r.mirror()
	base := fetch(t, m)
	if err := readAll(m, base); err != nil {
		t.Error(err)
	}
	head := propose(t, m, proposal(base, branch, "new"))
	if got := r.run(r.bare, "rev-parse", branch); got != head {
		t.Errorf("the branch is at %s, want %s", got, head)
	}
}

func TestAnIncompleteRemoteIsRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		clone []string
		says  string
	}{
		"shallow": {[]string{"--depth=1"}, "git fetch --unshallow"},
		"partial": {[]string{"--filter=blob:none"}, "receive what is new"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRemote(t, example)
			r.commit("second", map[string]string{"README.md": "second"})
			r.run(r.bare, "config", "uploadpack.allowFilter", "true")
			m, whole := r.mirror(), r.bare+".whole"
			head := fetch(t, m)
			if err := os.Rename(r.bare, whole); err != nil {
				t.Fatal(err)
			}
			r.run(filepath.Dir(r.bare), append(append([]string{"clone", "--quiet", "--bare"}, tt.clone...), "file://"+whole, r.bare)...)
			if err := os.RemoveAll(whole); err != nil { // a partial clone would ask it for what is missing
				t.Fatal(err)
			}
			if _, err := gitrepo.Open(context.Background(), r.options()); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Open() = %v, want an error with %q", err, tt.says)
			}
			if err := readAll(m, head); err != nil {
				t.Errorf("a mirror from before: %v", err)
			}
		})
	}
}
