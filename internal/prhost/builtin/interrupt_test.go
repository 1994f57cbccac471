package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/internal/promotion"
)

// wrapGit puts a shell script before the real git, which is $GIT to it; $HERE
// is the returned folder. These tests cannot run beside others.
func wrapGit(t *testing.T, script string) (dir string) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	content := fmt.Sprintf("#!/bin/sh\nGIT=%s HERE=%s\n%s\n", git, dir, script)
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return dir
}

// Somebody pushes at the worst moment: after the merge was computed and before main moves.
func TestPushBetweenMergeAndMove(t *testing.T) {
	for _, c := range []struct {
		name, ref string
		want      error
	}{
		{"to main", "refs/heads/main", nil},
		{"to the branch", "refs/heads/promote", promotion.ErrHeadMoved},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			git := prhosttest.NewClone(t, s.remote("rita", "rita-s-token"))
			p := propose(t, s, git, "promote")
			before := git.Remote("main")
			pushed := git.Push("elsewhere", "pushed.txt", "meanwhile\n")
			wrapGit(t, fmt.Sprintf(`case "$*" in
*"update-ref --stdin") [ -e "$HERE/done" ] || { touch "$HERE/done"; "$GIT" update-ref %s %s; } ;;
esac
exec "$GIT" "$@"`, c.ref, pushed))

			sha, err := s.port.Merge(t.Context(), p.Number, p.HeadSHA, "Merge it", mona(), "")
			if !errors.Is(err, c.want) {
				t.Fatalf("error is %v, want %v", err, c.want)
			}
			main := git.Remote("main")
			if c.want != nil {
				if main != before {
					t.Errorf("main moved to %s", main)
				}
				return
			}
			if parents := git.Parents(main); main != sha || parents[0] != pushed || parents[1] != p.HeadSHA {
				t.Errorf("main is at %s with parents %v, want the merge %s of %s and %s", main, parents, sha, pushed, p.HeadSHA)
			}
		})
	}
}

func TestClientThatLeavesEndsGit(t *testing.T) {
	s := newSite(t)
	ended := make(chan struct{})
	handler := s.server.Config.Handler
	s.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
		close(ended)
	})
	dir := wrapGit(t, `touch "$HERE/started"; sleep 600`)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	req, err := http.NewRequestWithContext(ctx, "GET", s.host.CloneURL(repository)+"/info/refs?service=git-upload-pack", nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if answer, err := http.DefaultClient.Do(req); err == nil {
			answer.Body.Close()
		}
	}()
	waitFor(t, filepath.Join(dir, "started"))
	leave()
	select {
	case <-ended:
	case <-time.After(5 * time.Second): // less than the wait before a kill
		t.Fatal("git still runs for a client that left")
	}
}

func waitFor(t *testing.T, file string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(file); err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s never appeared", file)
		}
	}
}
