package gitrepo_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/gitrepo"
)

// allocated is what a step allocates in all, in bytes.
func allocated(step func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	step()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// noise does not get smaller by compression.
func noise(size int, seed uint64) string {
	content := make([]byte, 0, size)
	for r := rand.New(rand.NewPCG(seed, 1)); len(content) < size; {
		content = binary.LittleEndian.AppendUint64(content, r.Uint64())
	}
	return string(content)
}

func TestHugeFilesAreNeverHeld(t *testing.T) {
	// Not parallel: it measures what the whole program allocates, the remote in it too.
	const size, most = 16 << 20, 12 << 20 // a small pack is held, up to 2 MiB
	r := newRemote(t, example)
	for _, dir := range []string{r.worktree, r.bare} {
		r.run(dir, "config", "core.compression", "0")
	}
	r.commit("huge, in history", map[string]string{"dump.bin": noise(size, 1)})
	r.commit("huge, in the tree", map[string]string{"dump.bin": noise(size, 2)})
	m := r.mirror()
	head := ""
	more := strings.Repeat("0", 2*size) // a pack of few bytes, and small in number: as if to be unpacked
	r.commit("huge, when unpacked", map[string]string{"zeros.bin": more})
	if used := allocated(func() { head = fetch(t, m) }); used > most {
		t.Errorf("%d bytes were allocated to fetch a file of %d", used, len(more))
	}
	o := r.options()
	if used := allocated(func() { m = open(t, o) }); used > most {
		t.Errorf("%d bytes were allocated to mirror files of %d", used, size)
	}
	if used := allocated(func() { propose(t, m, proposal(head, branch, "new")) }); used > most {
		t.Errorf("%d bytes were allocated to change another file", used)
	}
	tree, err := m.Tree(context.Background(), head)
	if err != nil {
		t.Fatal(err)
	}
	start := make([]byte, 1000)
	used := allocated(func() {
		if info, err := fs.Stat(tree, "dump.bin"); err != nil || info.Size() != size {
			t.Fatalf("Stat() = %v, %v", info, err)
		}
		file, err := tree.Open("dump.bin")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.Read(start); err != nil {
			t.Fatal(err)
		}
	})
	if want := noise(1000, 2); string(start) != want || used > size/8 {
		t.Errorf("%d bytes were allocated to read the first 1000, which are right: %v", used, string(start) == want)
	}
}

// TestAPackThatBrokeOnTheWay changes bytes of what the remote sends.
func TestAPackThatBrokeOnTheWay(t *testing.T) {
	t.Parallel()
	r := newLarge(t, 60, 30)
	r.run(r.bare, "repack", "-adqf", "--depth=50")
	for at := 20; at < 6000; at += 371 {
		o := r.options()
		r.intercept(func(w http.ResponseWriter, req *http.Request, git http.Handler) {
			if req.Method != http.MethodPost {
				git.ServeHTTP(w, req)
				return
			}
			sent := httptest.NewRecorder()
			git.ServeHTTP(sent, req)
			body := sent.Body.Bytes()
			begin := bytes.Index(body, []byte("PACK"))
			if begin+at < len(body) {
				body[begin+at] ^= 0x10
			}
			w.Header().Set("Content-Type", sent.Header().Get("Content-Type"))
			_, _ = w.Write(body)
		})
		if _, err := gitrepo.Open(context.Background(), o); err == nil {
			t.Errorf("with byte %d changed it opened", at)
		}
	}
	r.intercept(func(w http.ResponseWriter, req *http.Request, git http.Handler) { git.ServeHTTP(w, req) })
	o := r.options()
	m := open(t, o)
	if err := readAll(m, fetch(t, m)); err != nil {
		t.Error(err)
	}
	r.run(o.Dir, "fsck", "--strict")
}
