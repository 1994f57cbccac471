package gitrepo_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/gitrepo"
)

// silent accepts connections and says nothing. It tells of each.
func silent(t *testing.T) (address string, accepted <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan struct{}, 100)
	var mu sync.Mutex
	var open []net.Conn
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, conn)
			mu.Unlock()
			told <- struct{}{}
		}
	}()
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, conn := range open {
			_ = conn.Close()
		}
	})
	return l.Addr().String(), told
}

func TestARemoteThatSaysNothingIsLeftWhenTheContextEnds(t *testing.T) {
	// Not parallel: known hosts are named by the environment.
	_, key := newKey(t)
	known := filepath.Join(t.TempDir(), "known_hosts")
	if err := os.WriteFile(known, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSH_KNOWN_HOSTS", known)
	for _, scheme := range []string{"http://", "ssh://git@"} {
		address, accepted := silent(t)
		ctx, stop := context.WithCancel(context.Background())
		go func() { <-accepted; stop() }()
		_, err := gitrepo.Open(ctx, gitrepo.Options{Name: "config", URL: scheme + address + "/config.git", Branch: "main", Dir: t.TempDir() + "/mirror",
			Auth: func(context.Context) (string, string, error) { return "git", key, nil }})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: Open() = %v, want that the context has ended", scheme, err)
		}
	}
}

func TestARemoteThatStopsHalfWay(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	m := r.mirror()
	before := fetch(t, m)
	r.commit("second", map[string]string{"big.txt": strings.Repeat("x", 1<<20)})
	for _, stuck := range []string{"info/refs", "git-upload-pack", "git-receive-pack"} {
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		gone := make(chan struct{})
		r.intercept(func(w http.ResponseWriter, req *http.Request, git http.Handler) {
			if !strings.HasSuffix(req.URL.Path, stuck) {
				git.ServeHTTP(w, req)
				return
			}
			w.Header().Set("Content-Type", "application/x-"+stuck+"-result")
			w.(http.Flusher).Flush()
			stop()
			<-gone
		})
		var err error
		if stuck == "git-receive-pack" {
			_, err = m.Propose(ctx, proposal(before, branch, "new"))
		} else {
			_, err = m.Fetch(ctx)
		}
		close(gone)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("stuck in %s: %v, want that the context has ended", stuck, err)
		}
	}
	r.intercept(func(w http.ResponseWriter, req *http.Request, git http.Handler) { git.ServeHTTP(w, req) })
	if err := readAll(m, fetch(t, m)); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
