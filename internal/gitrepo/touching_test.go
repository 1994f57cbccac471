package gitrepo_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

func TestTouching(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	m, ctx := r.mirror(), context.Background()
	first := fetch(t, m)
	base := r.commit("base", map[string]string{"apps/web/base/service.yaml": "kind: Service\n"})
	one := r.commit("one", map[string]string{prod: "one", "README.md": "one"})
	r.commit("elsewhere", map[string]string{"docs/a.md": "x"})
	r.run(r.worktree, "checkout", "--quiet", "-b", "side", first)
	r.write("apps/web/overlays/prod/patch.yaml", "x")
	r.run(r.worktree, "add", "-A")
	r.run(r.worktree, "commit", "--quiet", "-m", "on the side")
	r.run(r.worktree, "checkout", "--quiet", "main")
	r.run(r.worktree, "merge", "--quiet", "--no-ff", "-m", "merge", "side")
	merge := r.commit("nothing", nil)
	r.run(r.worktree, "rm", "-r", "--quiet", "apps/web/base")
	removed := r.commit("removed", nil)
	head := fetch(t, m)
	merge = r.run(r.bare, "rev-parse", merge+"^")
	places := map[string][]string{
		"prod": {"apps/web/overlays/prod"}, "web": {"apps/web/overlays/prod", "apps/web/base"}, "file": {"README.md"},
		"all": {"."}, "none": {"apps/shop"}, "below a file": {"README.md/x"}, "both": {"README.md", "README.md", "apps"},
	}
	for _, tt := range []struct {
		until         string
		perKey, depth int
		want          map[string][]string
	}{
		{head, 9, 99, map[string][]string{
			"prod": {first, one, merge}, "web": {first, base, one, merge, removed}, "file": {first, one},
			"all": {first, base, one, "elsewhere", merge, removed}, "both": {first, base, one, merge, removed},
		}},
		{head, 1, 99, map[string][]string{"prod": {merge}, "web": {removed}, "file": {one}, "all": {removed}, "both": {removed}}},
		{head, 9, 1, map[string][]string{"web": {removed}, "all": {removed}, "both": {removed}}},
		{head, 9, 0, map[string][]string{}},
		{head, 0, 9, map[string][]string{}},
		{first, 9, 9, map[string][]string{"prod": {first}, "web": {first}, "file": {first}, "all": {first}, "both": {first}}},
	} {
		got, err := m.Touching(ctx, tt.until, places, tt.perKey, tt.depth)
		if err != nil {
			t.Fatal(err)
		}
		listed := map[string][]string{}
		for key, commits := range got {
			for _, c := range commits {
				if c.Message == "elsewhere" {
					c.SHA = c.Message
				}
				listed[key] = append(listed[key], c.SHA)
			}
		}
		if !reflect.DeepEqual(listed, tt.want) {
			t.Errorf("%d for each in %d until %.7s: %v\nwant %v", tt.perKey, tt.depth, tt.until, listed, tt.want)
		}
	}
	if _, err := m.Touching(ctx, strings.Repeat("a", 40), places, 1, 1); !errors.Is(err, promotion.ErrNotFound) {
		t.Errorf("until a commit that is not there: %v", err)
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := m.Touching(stopped, head, places, 1, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

// TestTouchingAgreesWithCommits compares the past of all targets with what each commit changed.
func TestTouchingAgreesWithCommits(t *testing.T) {
	t.Parallel()
	const applications, history = 40, 300
	m, ctx := newLarge(t, applications, history).mirror(), context.Background()
	head := fetch(t, m)
	commits, err := m.Commits(ctx, "", head, history+1)
	if err != nil {
		t.Fatal(err)
	}
	places, want := map[string][]string{}, map[string][]string{}
	for a := range applications {
		key := fmt.Sprint(a)
		places[key] = []string{fmt.Sprintf("apps/app-%04d/overlays/prod", a), fmt.Sprintf("apps/app-%04d/base", a)}
		for _, c := range commits {
			if slices.Contains(c.Changed, overlay(a)) {
				want[key] = append(want[key], c.SHA)
			}
		}
		want[key] = want[key][max(0, len(want[key])-5):]
	}
	touching, err := m.Touching(ctx, head, places, 5, history+1)
	if err != nil {
		t.Fatal(err)
	}
	for key := range places {
		if got := shas(touching[key]); !slices.Equal(got, want[key]) {
			t.Errorf("application %s: %v, want %v", key, got, want[key])
		}
	}
}

func TestCommit(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	m, ctx := r.mirror(), context.Background()
	p := proposal(fetch(t, m), branch, "new")
	head := propose(t, m, p)
	want := promotion.Commit{SHA: head, Parent: p.Base, Author: "Sluice <sluice@localhost>",
		Message: "web: 1.1.0 to prod\n\nSluice-Promotion: 7", When: p.Author.When, Changed: []string{prod}}
	got, err := m.Commit(ctx, head)
	got.When = got.When.UTC()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Commit() = %+v, %v\nwant %+v", got, err, want)
	}
	if root, err := m.Commit(ctx, p.Base); err != nil || root.Parent != "" || len(root.Changed) != len(example) {
		t.Errorf("Commit() of the first = %+v, %v", root, err)
	}
	for _, unknown := range []string{strings.Repeat("a", 40), "", "main"} {
		if _, err := m.Commit(ctx, unknown); !errors.Is(err, promotion.ErrNotFound) {
			t.Errorf("Commit(%q): %v, want ErrNotFound", unknown, err)
		}
	}
}
