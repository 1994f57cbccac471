package builtin_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sluicehq/sluice/internal/prhost/builtin"
	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/internal/promotion"
)

func TestCreateLeavesWhatExistsAlone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	before := s.main(t)
	if err := s.host.Create(t.Context(), repository, map[string][]byte{"other": []byte("x")}, author()); err != nil {
		t.Fatal(err)
	}
	if after := s.main(t); after != before {
		t.Errorf("main moved from %s to %s", before, after)
	}
	// The folder without the row is what a crash leaves, and what a restored backup of the folder is.
	execute(t, s, "DELETE FROM prhost.repositories")
	if err := s.host.Create(t.Context(), repository, nil, author()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.host.PullRequests(t.Context(), repository, ""); err != nil {
		t.Error(err)
	}
}

func TestCreateAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var racers sync.WaitGroup
	for range 6 {
		racers.Go(func() {
			if err := s.host.Create(t.Context(), "second", map[string][]byte{"a": []byte("x")}, author()); err != nil {
				t.Error(err)
			}
		})
	}
	racers.Wait()
	left, err := filepath.Glob(filepath.Join(s.dir, ".new-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestCreateTakesAnyContent(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	files := map[string][]byte{"empty": nil, "binary": {0, 255, '\n', 0}, `a "quoted" \ name`: []byte("no end of line"), "deep/er/ü": []byte("\r\n")}
	if err := s.host.Create(t.Context(), "content", files, author()); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	prhosttest.NewClone(t, s.host.CloneURL("content")).Git("clone", "--quiet", s.host.CloneURL("content"), dir)
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s holds %q, want %q; %v", name, got, want, err)
		}
	}
}

func TestCreateRefusesBadInput(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	good := map[string][]byte{"a": nil}
	for _, c := range []struct {
		name   string
		files  map[string][]byte
		author promotion.Signature
	}{
		{"", good, author()},
		{"Upper", good, author()},
		{"../outside", good, author()},
		{"a/b", good, author()},
		{"-option", good, author()},
		{"twice.git", good, author()},
		{"ok", map[string][]byte{"../outside": nil}, author()},
		{"ok", map[string][]byte{"/etc/passwd": nil}, author()},
		{"ok", map[string][]byte{"a/.git/config": nil}, author()},
		{"ok", good, promotion.Signature{Name: "a\ncommit refs/heads/x", Email: "e"}},
	} {
		if err := s.host.Create(t.Context(), c.name, c.files, c.author); err == nil {
			t.Errorf("created %q with %v by %q", c.name, c.files, c.author.Name)
		}
	}
	if entries, err := os.ReadDir(s.dir); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, want the first repository only; %v", entries, err)
	}
}

func TestUnknownRepository(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	port := s.host.Repository("nowhere")
	if _, err := port.Find(t.Context(), "x"); !errors.Is(err, promotion.ErrNotFound) {
		t.Errorf("error is %v, want ErrNotFound", err)
	}
	_, err := port.Open(t.Context(), promotion.NewPullRequest{Branch: "x", Title: "x"})
	if !errors.Is(err, promotion.ErrNotFound) || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("error is %v, want ErrNotFound that names the repository", err)
	}
}

func TestProtectionSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		set     func(*builtin.Options)
		missing int
	}{
		{func(*builtin.Options) {}, 3},
		{func(o *builtin.Options) { o.RequiredStatus = "sluice/gates" }, 2},
		{func(o *builtin.Options) { o.Protected = true }, 1},
		{func(o *builtin.Options) { o.Protected, o.RequiredStatus = true, "sluice/gates" }, 0},
	} {
		o := builtin.Options{Dir: t.TempDir()}
		c.set(&o)
		host, err := builtin.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		p, err := host.Repository("any").Protection(t.Context())
		if err != nil || len(p.Missing) != c.missing {
			t.Errorf("missing %q, want %d; %v", p.Missing, c.missing, err)
		}
	}
}
