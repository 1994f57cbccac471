package builtin_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/prhost/builtin"
	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
)

func TestAnybodyClones(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, version := range []string{"0", "1", "2"} {
		dir := t.TempDir()
		git := prhosttest.NewClone(t, s.remote("", ""))
		git.Git("-c", "protocol.version="+version, "clone", "--quiet", s.remote("", ""), dir)
		content, err := os.ReadFile(filepath.Join(dir, "apps/shop/base/kustomization.yaml"))
		if err != nil || string(content) != "resources: []\n" {
			t.Errorf("version %s cloned %q, %v", version, content, err)
		}
		if got := git.Git("log", "--format=%an <%ae> %aI: %s"); got != "Ada <ada@example.test> 2025-01-02T03:04:05+00:00: First commit" {
			t.Errorf("the first commit is %s", got)
		}
	}
}

func TestWhoMayPush(t *testing.T) {
	t.Parallel()
	noService := newSite(t, func(o *builtin.Options) { o.ServiceToken = "" })
	unprotected, protected := newSite(t), newSite(t, func(o *builtin.Options) { o.Protected = true })
	for _, c := range []struct {
		name           string
		site           *site
		user, password string
		refspecs       []string
		says           string // of a refusal, empty when all moves
	}{
		{"a release manager to a branch", protected, "rita", "rita-s-token", []string{"HEAD:refs/heads/r1"}, ""},
		{"a release manager a tag", protected, "rita", "rita-s-token", []string{"HEAD:refs/tags/v1"}, ""},
		{"a release manager to main", unprotected, "rita", "rita-s-token", []string{"HEAD:main"}, ""},
		{"the service to a branch", protected, "sluice", serviceToken, []string{"HEAD:refs/heads/s1"}, ""},
		{"nobody", unprotected, "", "", []string{"HEAD:refs/heads/n1"}, "could not read Username"},
		{"a wrong token", unprotected, "rita", "another-s-token", []string{"HEAD:refs/heads/w1"}, "Authentication failed"},
		{"a wrong service token", unprotected, "sluice", "x" + serviceToken, []string{"HEAD:refs/heads/w2"}, "Authentication failed"},
		{"a service token where there is none", noService, "sluice", "x", []string{"HEAD:refs/heads/w4"}, "Authentication failed"},
		{"the service token of another user", unprotected, "rita", serviceToken, []string{"HEAD:refs/heads/w3"}, "Authentication failed"},
		{"a viewer", unprotected, "victor", "victor-s-token", []string{"HEAD:refs/heads/v1"}, "victor may not push: that needs the role release-manager or admin"},
		{"the service to main", unprotected, "sluice", serviceToken, []string{"HEAD:main"}, "never pushes to main"},
		{"to a protected main", protected, "rita", "rita-s-token", []string{"HEAD:main"}, "main is protected: push a branch and open a pull request"},
		{"to a branch and a protected main", protected, "rita", "rita-s-token", []string{"HEAD:refs/heads/both", "HEAD:main"}, "main is protected"},
		{"main away", unprotected, "rita", "rita-s-token", []string{":main"}, "main cannot be deleted"},
		{"beside branches and tags", unprotected, "rita", "rita-s-token", []string{"HEAD:refs/pull/1/head"}, "neither a branch nor a tag"},
	} {
		t.Run(c.name, func(t *testing.T) {
			git := prhosttest.NewClone(t, c.site.remote("", ""))
			git.Commit("mine", "origin/main", "new.txt", c.name)
			before := git.Git("ls-remote", "origin")
			out, err := git.Try(append([]string{"push", c.site.remote(c.user, c.password)}, c.refspecs...)...)
			after := git.Git("ls-remote", "origin")
			switch {
			case c.says == "" && err != nil:
				t.Errorf("refused: %s", out)
			case c.says == "" && before == after:
				t.Error("taken, but nothing moved")
			case c.says != "" && (err == nil || !strings.Contains(out, c.says)):
				t.Errorf("says %s, want a refusal with %q", out, c.says)
			case c.says != "" && before != after:
				t.Errorf("refused, but moved from\n%s\nto\n%s", before, after)
			}
			if strings.Contains(out, serviceToken) {
				t.Error("the output holds the token")
			}
		})
	}
}

func TestPushedTellsWhatMoved(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	git := prhosttest.NewClone(t, s.remote("rita", "rita-s-token"))
	first := git.Push("promote", "a", "1")
	second := git.Push("promote", "a", "2")
	git.Git("push", "--quiet", "origin", ":promote")
	ref := "refs/heads/promote"
	want := [][]builtin.RefChange{{{Ref: ref, New: first}}, {{Ref: ref, Old: first, New: second}}, {{Ref: ref, Old: second}}}
	if got := s.moved(); !slices.EqualFunc(got, want, slices.Equal) {
		t.Fatalf("told %v, want %v", got, want)
	}

	p := propose(t, s, git, "another")
	main := git.Remote("main")
	sha, err := s.port.Merge(t.Context(), p.Number, p.HeadSHA, "m", mona(), "")
	if err != nil {
		t.Fatal(err)
	}
	got := s.moved()
	if want := []builtin.RefChange{{Ref: "refs/heads/main", Old: main, New: sha}}; !slices.Equal(got[len(got)-1], want) {
		t.Errorf("told %v, want %v", got[len(got)-1], want)
	}
}

// A push that git itself refuses, since its old value is stale, moves nothing.
func TestStalePushTellsNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	git := prhosttest.NewClone(t, s.remote("rita", "rita-s-token"))
	first, second := git.Push("promote", "a", "1"), git.Push("promote", "a", "2")
	told := len(s.moved())
	emptyPack := []byte("PACK\x00\x00\x00\x02\x00\x00\x00\x00")
	sum := sha1.Sum(emptyPack)
	body := packet(first+" "+git.Remote("main")+" refs/heads/promote\x00report-status") + "0000" + string(emptyPack) + string(sum[:])
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.remote("rita", "rita-s-token")+"/git-receive-pack", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-git-receive-pack-request")
	if status, answer := do(t, req); status != 200 || !strings.Contains(answer, "ng refs/heads/promote") {
		t.Fatalf("answers %d %q, want a refusal", status, answer)
	}
	if at := git.Remote("promote"); at != second {
		t.Errorf("the branch moved to %s", at)
	}
	if got := s.moved(); len(got) != told {
		t.Errorf("told %v although nothing moved", got[told:])
	}
}

func TestLargePushAndFetch(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	git := prhosttest.NewClone(t, s.remote("rita", "rita-s-token"))
	noise := make([]byte, 3<<20) // more than git sends in one piece
	state := uint32(1)
	for i := range noise {
		state = state*1664525 + 1013904223
		noise[i] = byte(state >> 24)
	}
	sha := git.Push("large", "noise.bin", string(noise))
	other := prhosttest.NewClone(t, s.remote("", ""))
	if got := other.Git("rev-parse", "origin/large"); got != sha {
		t.Errorf("cloned %s, want %s", got, sha)
	}
}

// lsRefs is a request of protocol version 2.
const lsRefs = "0014command=ls-refs\n00010000"

func TestHTTPRequests(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, _ = io.WriteString(zip, lsRefs)
	_ = zip.Close()
	base := "/git/" + repository + ".git/"
	const upload = "application/x-git-upload-pack-request"
	for _, c := range []struct {
		name, method, path, body string
		header                   map[string]string
		status                   int
		says                     string
	}{
		{"plain", "POST", base + "git-upload-pack", lsRefs, map[string]string{"Content-Type": upload, "Git-Protocol": "version=2"}, 200, "refs/heads/main"},
		{"gzip", "POST", base + "git-upload-pack", packed.String(), map[string]string{"Content-Type": upload, "Git-Protocol": "version=2", "Content-Encoding": "gzip"}, 200, "refs/heads/main"},
		{"not gzip", "POST", base + "git-upload-pack", lsRefs, map[string]string{"Content-Type": upload, "Content-Encoding": "gzip"}, 400, "gzip"},
		{"brotli", "POST", base + "git-upload-pack", lsRefs, map[string]string{"Content-Type": upload, "Content-Encoding": "br"}, 400, "gzip"},
		{"content type", "POST", base + "git-upload-pack", lsRefs, nil, 415, upload},
		{"dumb protocol", "GET", base + "info/refs", "", nil, 403, "smart HTTP"},
		{"another service", "GET", base + "info/refs?service=git-upload-archive", "", nil, 403, "smart HTTP"},
		{"push without a name", "GET", base + "info/refs?service=git-receive-pack", "", nil, 401, "API token"},
		{"no such repository", "GET", "/git/other.git/info/refs?service=git-upload-pack", "", nil, 404, "no such repository"},
		{"outside", "GET", "/git/..%2f" + repository + ".git/info/refs?service=git-upload-pack", "", nil, 404, "no such repository"},
		{"protocol header with odd characters", "GET", base + "info/refs?service=git-upload-pack", "", map[string]string{"Git-Protocol": "version=2\tx"}, 200, "# service=git-upload-pack"},
		{"files", "GET", base + "config", "", nil, 404, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), c.method, s.server.URL+c.path, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			for key, value := range c.header {
				req.Header.Set(key, value)
			}
			status, body := do(t, req)
			if status != c.status || !strings.Contains(body, c.says) {
				t.Errorf("answers %d %q, want %d with %q", status, body, c.status, c.says)
			}
		})
	}
}

func do(t *testing.T, req *http.Request) (status int, body string) {
	t.Helper()
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(content)
}

func TestNoGit(t *testing.T) {
	s := newSite(t)
	t.Setenv("PATH", t.TempDir())
	const sentence = "install the package git"
	if _, err := builtin.Open(t.Context(), builtin.Options{Dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), sentence) {
		t.Errorf("error is %v, want one that says %q", err, sentence)
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.remote("rita", "rita-s-token")+"/info/refs?service=git-receive-pack", nil)
	if err != nil {
		t.Fatal(err)
	}
	if status, body := do(t, req); status != http.StatusServiceUnavailable || !strings.Contains(body, sentence) {
		t.Errorf("answers %d %q, want %d with %q", status, body, http.StatusServiceUnavailable, sentence)
	}
}

// Whatever a push holds, it is refused or taken, and never moves main past the protection.
func FuzzPush(f *testing.F) {
	zero, one := strings.Repeat("0", 40), strings.Repeat("1", 40)
	for _, seed := range []string{"", "0000", "00", "zzzz", "0004", "0008aaaa0000", "fff0" + zero, lsRefs,
		packet(zero+" "+one+" refs/heads/x\x00report-status") + "0000PACK",
		packet(zero+" "+one+" refs/heads/main\x00 report-status side-band-64k") + "0000",
		packet("shallow "+one) + packet(one+" "+zero+" refs/heads/main\x00agent=x") + "0000",
		packet("push-cert\x00push-cert=x") + "0000"} {
		f.Add([]byte(seed))
	}
	s := newSite(f, func(o *builtin.Options) { o.Protected = true })
	before := s.main(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		req, err := http.NewRequestWithContext(t.Context(), "POST", s.remote("rita", "rita-s-token")+"/git-receive-pack", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-git-receive-pack-request")
		status, _ := do(t, req)
		if status != 200 && status != 400 && status != 500 {
			t.Errorf("answers %d", status)
		}
		if after := s.main(t); after != before {
			t.Fatalf("main moved from %s to %s", before, after)
		}
	})
}
