package gittree_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/sluicehq/sluice/internal/gittree"
)

// commit stores a commit; its time means nothing, as with commits of people.
func commit(t testing.TB, objects storer.EncodedObjectStorer, r *rand.Rand, parents ...plumbing.Hash) plumbing.Hash {
	t.Helper()
	by := object.Signature{Name: "Ada", Email: "ada@example.com", When: time.Unix(r.Int64N(1_000_000_000), 0).UTC()}
	hash, err := gittree.Commit(objects, &object.Commit{Author: by, Committer: by, Message: fmt.Sprint(r.Uint64()), ParentHashes: parents})
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func TestAncestryOfRandomHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 3))
		objects := memory.NewStorage()
		var all []plumbing.Hash
		before := map[plumbing.Hash]map[plumbing.Hash]bool{} // itself and its ancestors
		for n := range 25 {
			var parents []plumbing.Hash
			for range r.IntN(3) {
				if n > 0 {
					parents = append(parents, all[max(0, n-1-r.IntN(6))])
				}
			}
			c := commit(t, objects, r, parents...)
			before[c] = map[plumbing.Hash]bool{c: true}
			for _, p := range parents {
				for a := range before[p] {
					before[c][a] = true
				}
			}
			all = append(all, c)
		}
		history := gittree.NewHistory(objects)
		for range 200 {
			a, b := all[r.IntN(len(all))], all[r.IntN(len(all))]
			if got, err := history.Contains(a, b); err != nil || got != before[a][b] {
				t.Fatalf("seed %d: Contains(%.7s, %.7s) = %v, %v", seed, a, b, got, err)
			}
			checkBase(t, history, a, b, before)
		}
	}
}

// checkBase expects a common ancestor that is no ancestor of another one.
func checkBase(t *testing.T, history *gittree.History, a, b plumbing.Hash, before map[plumbing.Hash]map[plumbing.Hash]bool) {
	t.Helper()
	base, related, err := history.MergeBase(a, b)
	if err != nil {
		t.Fatal(err)
	}
	common := 0
	for c := range before[a] {
		if !before[b][c] {
			continue
		}
		common++
		if c != base && before[c][base] {
			t.Fatalf("MergeBase(%.7s, %.7s) = %.7s, but %.7s is nearer", a, b, base, c)
		}
	}
	if related != (common > 0) || related && !(before[a][base] && before[b][base]) {
		t.Fatalf("MergeBase(%.7s, %.7s) = %.7s, %v with %d in common", a, b, base, related, common)
	}
	if other, _, _ := history.MergeBase(b, a); other != base {
		t.Fatalf("MergeBase depends on the order: %.7s and %.7s", base, other)
	}
}

func TestLongHistoryIsReadOnce(t *testing.T) {
	t.Parallel()
	objects := &counting{Storage: memory.NewStorage()}
	r := rand.New(rand.NewPCG(1, 4))
	line := []plumbing.Hash{commit(t, objects, r)}
	for len(line) < 5000 {
		line = append(line, commit(t, objects, r, line[len(line)-1]))
	}
	history := gittree.NewHistory(objects)
	head, root := line[len(line)-1], line[0]
	if got, err := history.Contains(head, root); err != nil || !got {
		t.Fatalf("Contains(head, root) = %v, %v", got, err)
	}
	if objects.read != len(line) {
		t.Errorf("%d reads of %d commits", objects.read, len(line))
	}
	side := commit(t, objects, r, line[4000])
	objects.read = 0
	if got, err := history.Contains(head, side); err != nil || got {
		t.Errorf("Contains(head, side) = %v, %v", got, err)
	}
	if base, _, err := history.MergeBase(head, side); err != nil || base != line[4000] {
		t.Errorf("MergeBase(head, side) = %v, %v", base, err)
	}
	if objects.read != 1 {
		t.Errorf("%d reads for one new commit", objects.read)
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			if got, err := history.Contains(line[100*i+50], line[100*i]); err != nil || !got {
				t.Errorf("Contains() = %v, %v", got, err)
			}
		})
	}
	group.Wait()
}

func TestFirstParents(t *testing.T) {
	t.Parallel()
	objects := memory.NewStorage()
	r := rand.New(rand.NewPCG(1, 5))
	root := commit(t, objects, r)
	main, side := commit(t, objects, r, root), commit(t, objects, r, root)
	merge := commit(t, objects, r, main, side)
	var walked []plumbing.Hash
	err := gittree.FirstParents(objects, merge, func(c *object.Commit) (bool, error) {
		walked = append(walked, c.Hash)
		return true, nil
	})
	if err != nil || len(walked) != 3 || walked[1] != main || walked[2] != root {
		t.Errorf("walked %v, %v", walked, err)
	}
	stop := errors.New("stop")
	if err := gittree.FirstParents(objects, merge, func(*object.Commit) (bool, error) { return true, stop }); !errors.Is(err, stop) {
		t.Errorf("the visitor's error became %v", err)
	}
	lost := commit(t, objects, r, plumbing.NewHash("3333333333333333333333333333333333333333"))
	if _, err := gittree.NewHistory(objects).Contains(lost, root); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("a history with a hole: %v", err)
	}
}
