package gitrepo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/gitrepo"
)

// damage is done to a mirror's folder that holds a pack and loose objects.
var damage = map[string]func(dir string) error{
	"no objects":      func(dir string) error { return os.RemoveAll(filepath.Join(dir, "objects")) },
	"no refs":         func(dir string) error { return os.Remove(filepath.Join(dir, "packed-refs")) },
	"mangled refs":    func(dir string) error { return os.WriteFile(filepath.Join(dir, "packed-refs"), []byte("x"), 0o600) },
	"half a ref":      func(dir string) error { return each(dir, "packed-refs", half) },
	"no loose object": func(dir string) error { return each(dir, "objects/??/*", os.Remove) },
	"empty objects":   func(dir string) error { return each(dir, "objects/*/*", empty) },
	"mangled objects": func(dir string) error { return each(dir, "objects/*/*", mangle) },
	"half a pack":     func(dir string) error { return each(dir, "objects/pack/*.pack", half) },
	"no pack":         func(dir string) error { return each(dir, "objects/pack/*.pack", os.Remove) },
	"half an index":   func(dir string) error { return each(dir, "objects/pack/*.idx", half) },
	"an empty index":  func(dir string) error { return each(dir, "objects/pack/*.idx", empty) },
	"no index":        func(dir string) error { return each(dir, "objects/pack/*.idx", os.Remove) },
	"mangled index":   func(dir string) error { return each(dir, "objects/pack/*.idx", mangle) },
	"mangled pack":    func(dir string) error { return each(dir, "objects/pack/*.pack", mangle) },
}

func each(dir, pattern string, do func(string) error) error {
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err == nil && len(names) == 0 {
		err = errors.New("nothing to damage at " + pattern)
	}
	for _, name := range names {
		err = errors.Join(err, do(name))
	}
	return err
}

func empty(name string) error { return os.Truncate(name, 0) }

func half(name string) error {
	info, err := os.Stat(name)
	return errors.Join(err, os.Truncate(name, info.Size()/2))
}

// mangle writes a file anew: who has the old one open keeps it.
func mangle(name string) error {
	content, err := os.ReadFile(name)
	for i := 8; i < len(content); i++ {
		content[i] ^= 0x5a
	}
	return errors.Join(err, os.Remove(name), os.WriteFile(name, content, 0o600))
}

func TestADamagedMirrorIsMadeAnew(t *testing.T) {
	t.Parallel()
	for name, harm := range damage {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newLarge(t, 50, 3)
			r.run(filepath.Dir(r.bare), "clone", "--quiet", r.bare, r.worktree)
			o := r.options()
			m, err := gitrepo.Open(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			head := r.commit("unpacked", map[string]string{overlay(7): "new"})
			fetch(t, m)
			if err := errors.Join(m.Close(), harm(o.Dir)); err != nil {
				t.Fatal(err)
			}
			var told []error
			o.Damaged = func(err error) { told = append(told, err) }
			again := open(t, o)
			if readAll(again, head) != nil {
				fetch(t, again)
			}
			if err := readAll(again, head); err != nil {
				t.Errorf("after it was mended: %v", err)
			}
			if len(told) == 0 || len(told) > 2 {
				t.Errorf("told of %v", told)
			}
			r.run(o.Dir, "fsck", "--strict")
		})
	}
}

func TestADamagedMirrorWithoutItsRemoteSaysBoth(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	o := r.options()
	m, err := gitrepo.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(m.Close(), damage["half a ref"](o.Dir)); err != nil {
		t.Fatal(err)
	}
	r.intercept(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		http.Error(w, "down", http.StatusBadGateway)
	})
	if _, err := gitrepo.Open(context.Background(), o); err == nil || !strings.Contains(err.Error(), "packed-refs is damaged") || !strings.Contains(err.Error(), "502") {
		t.Errorf("Open() = %v, want the damage and that the remote is away", err)
	}
}

func TestWhatAFullDiskLeftIsSweptAway(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	o := r.options()
	m, err := gitrepo.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	head := fetch(t, m)
	left := []string{o.Dir + "/objects/pack/tmp_pack_1", o.Dir + "/objects/pack/tmp_obj_1", o.Dir + "/packed-refs.new", o.Dir + ".new/objects/pack/x"}
	err = errors.Join(m.Close(), os.MkdirAll(filepath.Dir(left[3]), 0o700))
	for _, name := range left {
		err = errors.Join(err, os.WriteFile(name, []byte("half"), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	o.Damaged = func(err error) { t.Errorf("it was made anew for %v", err) }
	again := open(t, o)
	if err := readAll(again, head); err != nil {
		t.Error(err)
	}
	propose(t, again, proposal(fetch(t, again), branch, "new"))
	for _, name := range left[:3] {
		if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}

func TestDamageWhileOpenIsFoundByReadingAndMendedByAFetch(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	o := r.options()
	var told error
	o.Damaged = func(err error) { told = err }
	m := open(t, o)
	head := fetch(t, m)
	blob := r.run(r.bare, "rev-parse", head+":"+prod)
	if err := os.Remove(filepath.Join(o.Dir, "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	if err := readAll(m, head); err == nil {
		t.Fatal("a missing file was read")
	}
	fetch(t, m)
	if err := readAll(m, head); err != nil {
		t.Errorf("after a fetch: %v", err)
	}
	if told == nil || !strings.Contains(told.Error(), blob) {
		t.Errorf("told of %v, want what was missing", told)
	}
}

func readAll(m *gitrepo.Mirror, commit string) error {
	tree, err := m.Tree(context.Background(), commit)
	if err != nil {
		return err
	}
	return fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			_, err = fs.ReadFile(tree, name)
		}
		return err
	})
}

// TestDamageOfTheRemoteIsNotFetchedAgainAndAgain: a tree of it names a blob that it
// does not send.
func TestDamageOfTheRemoteIsNotFetchedAgainAndAgain(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	o := r.options()
	clones := 0
	o.Damaged = func(error) { clones++ }
	m := open(t, o)
	bad := r.commit("bad", map[string]string{"lost.yaml": "lost"})
	blob := r.run(r.bare, "rev-parse", bad+":lost.yaml")
	r.intercept(func(w http.ResponseWriter, req *http.Request, git http.Handler) {
		if req.Method != http.MethodPost {
			git.ServeHTTP(w, req)
			return
		}
		pack := r.packWithout(blob)
		w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
		_, _ = w.Write(append([]byte("0008NAK\n"), pack...))
	})
	for range 5 {
		fetch(t, m)
		if err := readAll(m, bad); err == nil {
			t.Fatal("a missing file was read")
		}
	}
	if clones != 1 {
		t.Errorf("the mirror was made anew %d times, want once", clones)
	}
	if _, err := m.Commits(context.Background(), "", bad, 5); err != nil {
		t.Errorf("what is not damaged: %v", err)
	}
}

// packWithout is all there is but one object, as the remote would send it.
func (r *remote) packWithout(object string) []byte {
	r.t.Helper()
	all := r.run(r.bare, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
	cmd := r.command(r.bare, "pack-objects", "--stdout", "--quiet")
	cmd.Stdin = strings.NewReader(strings.Replace(all, object+"\n", "", 1) + "\n")
	var sent bytes.Buffer
	cmd.Stdout = &sent
	if err := cmd.Run(); err != nil {
		r.t.Fatal(err)
	}
	var lines bytes.Buffer
	for chunk := range slices.Chunk(sent.Bytes(), 60_000) {
		fmt.Fprintf(&lines, "%04x\x01%s", len(chunk)+5, chunk)
	}
	return append(lines.Bytes(), "0000"...)
}
