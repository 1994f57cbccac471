package builtin_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/prhost/builtin"
	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/internal/promotion"
)

func TestPullRequestPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	git := prhosttest.NewClone(t, s.remote("rita", "rita-s-token"))
	first := git.Push("promote", "apps/shop/base/kustomization.yaml", "resources: [a.yaml]\n")
	p, err := s.port.Open(t.Context(), promotion.NewPullRequest{Branch: "promote", Head: first, Title: "Shop 1.4", Body: "old body"})
	if err != nil {
		t.Fatal(err)
	}
	git.Push("main", "elsewhere.txt", "not part of the change\n")
	git.Git("checkout", "--quiet", "-B", "promote", first)
	git.Commit("promote", first, `odd "name" ü.txt`, "new\n")
	git.Git("push", "--quiet", "origin", "promote")
	head := git.Remote("promote")
	for _, state := range []string{"pending", "pending", "success"} {
		if err := s.port.SetStatus(t.Context(), head, promotion.CommitStatus{Context: "sluice/gates", State: state, Description: "3 of 3", URL: "https://x.test"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.port.Update(t.Context(), p.Number, "Shop 1.4.0", "new body"); err != nil {
		t.Fatal(err)
	}
	if err := s.host.Close(t.Context(), repository, p.Number, " Not today. ", mona()); err != nil {
		t.Fatal(err)
	}

	d, err := s.host.PullRequest(t.Context(), repository, p.Number)
	if err != nil {
		t.Fatal(err)
	}
	if d.Title != "Shop 1.4.0" || d.Body != "new body" || d.State != promotion.PullRequestClosed || d.ClosedBy != "mona" || d.URL != s.server.URL+"/git/platform-config/pulls/1" {
		t.Errorf("page of %+v", d)
	}
	if len(d.Comments) != 1 || d.Comments[0].Author != "mona" || d.Comments[0].Body != "Not today." {
		t.Errorf("comments are %+v", d.Comments)
	}
	if len(d.Statuses) != 1 || d.Statuses[0].State != "success" || d.Statuses[0].Description != "3 of 3" {
		t.Errorf("statuses are %+v", d.Statuses)
	}
	var events []string
	for _, e := range d.Events {
		events = append(events, e.Actor+" "+e.Kind+": "+e.Message)
	}
	want := []string{
		"sluice opened: opened at " + first,
		"rita pushed: the branch moved from " + first + " to " + head,
		"sluice status: sluice/gates is pending: 3 of 3",
		"sluice status: sluice/gates is success: 3 of 3",
		"mona closed: closed without merging",
	}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Error("events (-want +got):\n" + diff)
	}
	checkDiff(t, d.Diff)
}

func checkDiff(t *testing.T, d builtin.Diff) {
	t.Helper()
	var paths []string
	for _, f := range d.Files {
		paths = append(paths, f.Path)
	}
	if diff := cmp.Diff([]string{"apps/shop/base/kustomization.yaml", `odd "name" ü.txt`}, paths); diff != "" || d.Cut {
		t.Fatal("files (-want +got):\n" + diff)
	}
	for i, want := range []string{"-resources: []\n+resources: [a.yaml]\n", "@@ -0,0 +1 @@\n+new\n"} {
		if !strings.HasPrefix(d.Files[i].Text, "diff --git ") || !strings.HasSuffix(d.Files[i].Text, want) {
			t.Errorf("diff of %s is\n%s", d.Files[i].Path, d.Files[i].Text)
		}
	}
}

func TestDiffStaysAfterMergeAndIsCut(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	git := prhosttest.NewClone(t, s.remote("rita", "rita-s-token"))
	p := propose(t, s, git, "promote")
	git.MergeByHand("promote", "--no-ff")
	git.Git("push", "--quiet", "origin", ":promote")
	d, err := s.host.PullRequest(t.Context(), repository, p.Number)
	if err != nil {
		t.Fatal(err)
	}
	if d.State != promotion.PullRequestMerged || len(d.Diff.Files) != 1 || d.Diff.Files[0].Path != "promote.txt" {
		t.Errorf("merged page is %+v", d)
	}

	head := git.Push("large", "large.txt", strings.Repeat("a line of some length\n", 100_000))
	large, err := s.port.Open(t.Context(), promotion.NewPullRequest{Branch: "large", Head: head, Title: "Large"})
	if err != nil {
		t.Fatal(err)
	}
	if d, err = s.host.PullRequest(t.Context(), repository, large.Number); err != nil {
		t.Fatal(err)
	}
	if size := len(d.Diff.Files[0].Text); !d.Diff.Cut || size != 1<<20 {
		t.Errorf("a diff of 2 MB has %d bytes, cut: %t", size, d.Diff.Cut)
	}
}

func TestPullRequestsList(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	git := prhosttest.NewClone(t, s.remote("rita", "rita-s-token"))
	a, b := propose(t, s, git, "a"), propose(t, s, git, "b")
	if err := s.port.Close(t.Context(), a.Number, ""); err != nil {
		t.Fatal(err)
	}
	for state, want := range map[promotion.PullRequestState][]int{
		"": {b.Number, a.Number}, promotion.PullRequestOpen: {b.Number}, promotion.PullRequestClosed: {a.Number}, promotion.PullRequestMerged: nil,
	} {
		list, err := s.host.PullRequests(t.Context(), repository, state)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, p := range list {
			got = append(got, p.Number)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", state, diff)
		}
	}
	if _, err := s.host.PullRequests(t.Context(), "other", ""); !errors.Is(err, promotion.ErrNotFound) {
		t.Errorf("error is %v, want ErrNotFound", err)
	}
}
