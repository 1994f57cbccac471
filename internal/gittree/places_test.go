package gittree_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/sluicehq/sluice/internal/gittree"
)

func TestTouchedAgreesWithChanged(t *testing.T) {
	t.Parallel()
	paths := map[string][]string{"all": {"."}, "a": {"a"}, "deep": {"a/b/a", "b"}, "several": {"a.b", "a0/a", "a0"}, "file or folder": {"a-"}, "none": {"c/d"}}
	places := gittree.NewPlaces(paths)
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		objects := memory.NewStorage()
		before := random(r)
		after := edited(r, before)
		a, b := before.write(t, objects), after.write(t, objects)
		if r.IntN(9) == 0 {
			a, before = plumbing.ZeroHash, model{}
		}
		var want []string
		for key, all := range paths {
			if slices.ContainsFunc(differing(before, after), func(changed string) bool {
				return slices.ContainsFunc(all, func(p string) bool {
					return p == "." || changed == p || strings.HasPrefix(changed, p+"/")
				})
			}) {
				want = append(want, key)
			}
		}
		slices.Sort(want)
		if got, err := places.Touched(objects, a, b); err != nil || !slices.Equal(got, want) {
			t.Fatalf("seed %d: Touched() = %q, %v; want %q\n%v\n%v", seed, got, err, want, before, after)
		}
	}
}

func TestTouchedReadsOnlyWhatLeadsToAPlace(t *testing.T) {
	t.Parallel()
	objects := &counting{Storage: memory.NewStorage()}
	files := manyOverlays()
	a, _, err := gittree.Write(objects, plumbing.ZeroHash, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name := range files {
		files[name] = []byte("everything changes")
	}
	b, _, err := gittree.Write(objects, a, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	objects.read = 0
	places := gittree.NewPlaces(map[string][]string{"one": {"apps/app-00007/overlays/prod"}, "absent": {"components"}})
	if got, err := places.Touched(objects, a, b); err != nil || len(got) != 1 || objects.read != 8 {
		t.Errorf("Touched() = %q, %v after %d reads; want one key and 8", got, err, objects.read)
	}
}
