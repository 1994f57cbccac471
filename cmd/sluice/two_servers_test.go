package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/demo"
	"github.com/sluicehq/sluice/internal/postgres/postgrestest"
	"github.com/sluicehq/sluice/internal/registry/demoregistry"
	"github.com/sluicehq/sluice/test/demotest"
)

// TestTwoServersShareTheWork runs `sluice serve` twice on one database and behind one address, with the built-in PR host, kills the one
// that answers there in the middle, and expects that every build posted to either is merged.
func TestTwoServersShareTheWork(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	images, err := demoregistry.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	registry := httptest.NewServer(images)
	t.Cleanup(registry.Close)
	host := strings.TrimPrefix(registry.URL, "http://")
	push := func(ctx context.Context, i demo.Image) (string, error) { return pushImage(ctx, host, i) }

	database, data := postgrestest.NewDatabase(t, nil), t.TempDir()
	one := newServeProcess(t, database, data, "")
	two := newServeProcess(t, database, data, one.URL)
	one.Run(t)
	one.Tokens = makeTokens(t, one.config)
	two.Tokens = one.Tokens
	two.Run(t)
	files, err := demo.Files(ctx, host, push)
	if err != nil {
		t.Fatal(err)
	}
	one.pushFiles(t, files)

	var dev []any
	for i := range 6 {
		digest, err := push(ctx, demo.Image{Name: "web", Version: fmt.Sprintf("4.%d.0", i)})
		if err != nil {
			t.Fatal(err)
		}
		server := []*serveProcess{one, two}[i%2]
		if i == 4 {
			one.Kill()
		}
		if i >= 4 {
			server = two
		}
		body := demotest.Build("web", fmt.Sprintf("4.%d.0", i), host+"/shop/web", digest)
		var answer map[string]any
		posted := demotest.Await(60*time.Second, func() bool { // until the push was looked at
			status, a, err := server.Try(server.Tokens["ci"], http.MethodPost, "/api/v1/builds", body)
			answer = a
			return err == nil && status == http.StatusCreated
		})
		if !posted {
			t.Fatalf("build %d: %v", i, answer)
		}
		dev = append(dev, first(answer["promotions"]))
	}
	for i, id := range dev {
		p := two.AwaitState(t, id, "merged", "superseded")
		if i == len(dev)-1 && p["state"] != "merged" {
			t.Errorf("the newest build's promotion is %v", p["state"])
		}
	}
}

// serveProcess is one `sluice serve` in its own process.
type serveProcess struct {
	*demotest.Demo
	config string
}

// newServeProcess prepares one that people reach at an address, or at its own where that is empty.
func newServeProcess(t testing.TB, database, data, address string) *serveProcess {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sluice.yaml")
	d := demotest.NewServer(t, os.Args[0], "serve", "--config", file)
	text := fmt.Sprintf("listen: %s\npublic_url: %s\ndata: %q\ndatabase: {url: %q}\nconfig_repositories:\n  - {name: config, host: built-in}\n",
		strings.TrimPrefix(d.URL, "http://"), cmp.Or(address, d.URL), data, database)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return &serveProcess{d, file}
}

func makeTokens(t testing.TB, config string) map[string]string {
	t.Helper()
	tokens := map[string]string{}
	for _, role := range []string{"ci", "viewer", "release-manager"} {
		out, err := exec.Command(os.Args[0], "token", "create", "--config", config, "--name", role, "--role", role).Output()
		if err != nil {
			t.Fatalf("make a token: %v", err)
		}
		tokens[role] = strings.TrimSpace(string(out))
	}
	return tokens
}

func (s *serveProcess) pushFiles(t testing.TB, files map[string][]byte) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	git := func(dir string, args ...string) { t.Helper(); runGit(t, dir, args...) }
	git(".", "clone", "--quiet", strings.Replace(s.URL, "://", "://rita:"+s.Tokens["release-manager"]+"@", 1)+"/git/config.git", dir)
	for name, content := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git(dir, "add", "-A")
	git(dir, "commit", "--quiet", "-m", "the shop")
	git(dir, "push", "--quiet", "origin", "HEAD:main")
}
