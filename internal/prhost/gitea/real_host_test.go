//go:build peers

package gitea_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/sluicehq/sluice/internal/prhost/gitea"
	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/test/peers/realgitea"
)

func sources(t *testing.T, s *realgitea.Server) {
	r := s.NewRepository(t)
	r.Protect(t, byHandOrWithStatus)
	prhosttest.Sources(t, newHost(t, s, r), r.Remote, strings.TrimPrefix(s.URL, "http://"), r.Owner+"/"+r.Name)
}

func mergeMethods(t *testing.T, s *realgitea.Server) {
	for _, c := range []struct {
		configured gitea.MergeMethod
		asked      promotion.MergeMethod
		parents    int
	}{
		{gitea.MergeCommit, "", 2}, {gitea.Squash, "", 1}, {gitea.Rebase, "", 1},
		{gitea.Squash, promotion.MergeCommit, 2}, {"", promotion.MergeSquash, 1}, {"", promotion.MergeRebase, 1},
	} {
		t.Run(fmt.Sprintf("configured %q, asked for %q", c.configured, c.asked), func(t *testing.T) {
			t.Parallel()
			r := s.NewRepository(t)
			h := newHost(t, s, r, func(o *gitea.Options) { o.MergeMethod = c.configured })
			p := opened(t, r, h)
			git := prhosttest.NewClone(t, r.Remote)
			main := git.Push("main", "other.txt", "moves on\n")
			by := promotion.Actor{Name: "Rita  Release\nmanager", Kind: promotion.Person}
			sha, err := h.Merge(t.Context(), p.Number, p.HeadSHA, "Promote it\n\nbecause", by, c.asked)
			if err != nil || sha != git.Remote("main") {
				t.Fatalf("merged as %s, %v; main is %s", sha, err, git.Remote("main"))
			}
			if got := git.Parents(sha); len(got) != c.parents || got[0] != main {
				t.Errorf("the merge's parents are %v", got)
			}
			message := git.Git("show", "--no-patch", "--format=%B", sha)
			if c.configured != gitea.Rebase && c.asked != promotion.MergeRebase && !strings.HasPrefix(message, "Promote it\n\nbecause\n\nMerged-for: Rita Release manager") {
				t.Errorf("the message is %q", message)
			}
		})
	}
}

func statusIsRequired(t *testing.T, s *realgitea.Server) {
	r := s.NewRepository(t)
	r.Protect(t, byHandOrWithStatus)
	h := newHost(t, s, r)
	p := opened(t, r, h)
	for _, state := range []string{"", "pending", "failure"} {
		if state != "" {
			if err := h.SetStatus(t.Context(), p.HeadSHA, promotion.CommitStatus{Context: prhosttest.Status, State: state, Description: "wait"}); err != nil {
				t.Fatal(err)
			}
		}
		_, err := h.Merge(t.Context(), p.Number, p.HeadSHA, "Promote", promotion.Sluice(), "")
		if !errors.Is(err, promotion.ErrNotMergeable) || errors.Is(err, promotion.ErrConflict) || !strings.Contains(err.Error(), "status checks") {
			t.Errorf("status %q: error is %v", state, err)
		}
	}
}

// Where Gitea does not look for merges by plain git, a branch set back to main stays open.
func unnoticedSetBack(t *testing.T, s *realgitea.Server) {
	r := s.NewRepository(t)
	r.Edit(t, func(o *sdk.EditRepoOption) { o.HasPullRequests, o.AutodetectManualMerge = new(true), new(false) })
	h := newHost(t, s, r)
	p := opened(t, r, h)
	git := prhosttest.NewClone(t, r.Remote)
	main := git.Push("main", "other.txt", "moves on\n")
	git.Git("push", "--quiet", "--force", "origin", "main:promote")
	realgitea.Eventually(t, "the head is main", func() bool {
		got, err := h.Get(t.Context(), p.Number)
		if err != nil {
			t.Fatal(err)
		}
		return got.HeadSHA == main && got.State == promotion.PullRequestOpen
	})
	if sha, err := h.Merge(t.Context(), p.Number, main, "Promote", promotion.Sluice(), ""); !errors.Is(err, promotion.ErrNotMergeable) && !errors.Is(err, promotion.ErrConflict) {
		t.Errorf("merged as %s, %v", sha, err)
	}
	if at := git.Remote("main"); at != main {
		t.Errorf("main is %s, want %s", at, main)
	}
}

// Where Gitea looks for merges by plain git, it takes a branch set back to main for
// one; that is closed, by who did it, and at no moment merged.
func noticedSetBack(t *testing.T, s *realgitea.Server) {
	r := s.NewRepository(t)
	h := newHost(t, s, r)
	p := opened(t, r, h)
	git := prhosttest.NewClone(t, r.Remote)
	git.Push("main", "other.txt", "moves on\n")
	git.Git("push", "--quiet", "--force", "origin", "main:promote")
	realgitea.Eventually(t, "the pull request is closed", func() bool {
		got, err := h.Get(t.Context(), p.Number)
		if err != nil {
			t.Fatal(err)
		}
		if got.State == promotion.PullRequestMerged {
			t.Fatalf("merged %+v", got)
		}
		return got.State == promotion.PullRequestClosed && got.ClosedBy == realgitea.Person
	})
}

func protections(t *testing.T, s *realgitea.Server) {
	const pin = "cannot pin the status"
	good := func(rule *sdk.CreateBranchProtectionOption) {
		rule.EnablePush, rule.EnableStatusCheck, rule.StatusCheckContexts = false, true, []string{"lint", prhosttest.Status}
	}
	for name, c := range map[string]struct {
		set  func(*sdk.CreateBranchProtectionOption) // nil: not protected
		want []string                                // words of each that is missing
	}{
		"none":           {nil, []string{"main is not protected"}},
		"all":            {func(*sdk.CreateBranchProtectionOption) {}, []string{pin}},
		"by a pattern":   {func(r *sdk.CreateBranchProtectionOption) { r.RuleName = "ma*" }, []string{pin}},
		"another branch": {func(r *sdk.CreateBranchProtectionOption) { r.RuleName = "release/*" }, []string{"main is not protected"}},
		"pushes":         {func(r *sdk.CreateBranchProtectionOption) { r.EnablePush = true }, []string{"direct pushes", pin}},
		"some may push": {func(r *sdk.CreateBranchProtectionOption) {
			r.EnablePush, r.EnablePushWhitelist, r.PushWhitelistUsernames = true, true, []string{realgitea.Person}
		}, []string{"some may push", pin}},
		"deploy keys": {func(r *sdk.CreateBranchProtectionOption) {
			r.EnablePush, r.EnablePushWhitelist, r.PushWhitelistDeployKeys = true, true, true
		}, []string{"some may push", pin}},
		"nobody may push": {func(r *sdk.CreateBranchProtectionOption) { r.EnablePush, r.EnablePushWhitelist = true, true }, []string{pin}},
		"some files":      {func(r *sdk.CreateBranchProtectionOption) { r.UnprotectedFilePatterns = "docs/**" }, []string{"docs/**", pin}},
		"administrators":  {func(r *sdk.CreateBranchProtectionOption) { r.BlockAdminMergeOverride = false }, []string{"administrators", pin}},
		"no status":       {func(r *sdk.CreateBranchProtectionOption) { r.EnableStatusCheck = false }, []string{"is not required", pin}},
		"another status":  {func(r *sdk.CreateBranchProtectionOption) { r.StatusCheckContexts = []string{"lint"} }, []string{"is not required", pin}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := s.NewRepository(t)
			if c.set != nil {
				r.Protect(t, good, c.set)
			}
			p, err := newHost(t, s, r).Protection(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(p.Missing, c.want, strings.Contains) {
				t.Errorf("missing is %q, want %q", p.Missing, c.want)
			}
		})
	}
}

func tokens(t *testing.T, s *realgitea.Server) {
	r := s.NewRepository(t)
	p := opened(t, r, newHost(t, s, r))
	as := func(token string) *gitea.Host {
		return newHost(t, s, r, func(o *gitea.Options) { o.Token = func(context.Context) (string, error) { return token, nil } })
	}
	const revoked = "0123456789012345678901234567890123456789"
	_, err := as(revoked).Get(t.Context(), p.Number)
	if tellsNo(t, revoked, err); !strings.Contains(err.Error(), "the token is refused") {
		t.Errorf("a revoked token: %v", err)
	}
	reader := s.Token(t, realgitea.Bot, "read:repository", "read:issue")
	err = as(reader).Update(t.Context(), p.Number, "a", "b")
	if tellsNo(t, reader, err); !strings.Contains(err.Error(), "forbidden by Gitea") || !strings.Contains(err.Error(), "write:repository") {
		t.Errorf("a token that only reads: %v", err)
	}
	private := s.NewRepository(t)
	private.Edit(t, func(o *sdk.EditRepoOption) { o.Private = new(true) })
	private.Remove(t, realgitea.Bot)
	h := newHost(t, s, private)
	for name, call := range map[string]func() error{
		"find": func() error { _, err := h.Find(t.Context(), "promote"); return err },
		"get":  func() error { _, err := h.Get(t.Context(), 1); return err },
		"open": func() error { _, err := h.Open(t.Context(), promotion.NewPullRequest{Branch: "promote"}); return err },
	} {
		if err := call(); err == nil || errors.Is(err, promotion.ErrNotFound) || !strings.Contains(err.Error(), "may see no repository") {
			t.Errorf("%s in a hidden repository: %v", name, err)
		}
	}
}

func renamed(t *testing.T, s *realgitea.Server) {
	r := s.NewRepository(t)
	h := newHost(t, s, r)
	p := opened(t, r, h)
	r.Edit(t, func(o *sdk.EditRepoOption) { o.Name = new(r.Name + "-renamed") })
	got, err := h.Get(t.Context(), p.Number)
	if err != nil || got.Number != p.Number {
		t.Errorf("read under the old name: %+v, %v", got, err)
	}
	if err := h.Update(t.Context(), p.Number, "a", "b"); err == nil || !strings.Contains(err.Error(), "change its name in the configuration") {
		t.Errorf("changed under the old name: %v", err)
	}
	if _, err := h.Merge(t.Context(), p.Number, p.HeadSHA, "Promote", promotion.Sluice(), ""); err == nil || !strings.Contains(err.Error(), "change its name in the configuration") {
		t.Errorf("merged under the old name: %v", err)
	}
}

func longTitle(t *testing.T, s *realgitea.Server) {
	r := s.NewRepository(t)
	h := newHost(t, s, r)
	p := opened(t, r, h)
	body := strings.Repeat("ö", 200_000)
	if err := h.Update(t.Context(), p.Number, strings.Repeat("ä", 300), body); err != nil {
		t.Fatal(err)
	}
	got, _, err := s.As(t, s.PersonToken).GetPullRequest(r.Owner, r.Name, int64(p.Number))
	if err != nil || len([]rune(got.Title)) > 255 || len([]rune(got.Title)) < 250 || !strings.HasSuffix(got.Title, "ä…") || got.Body != body {
		t.Errorf("the title has %d characters, the body %d bytes; %v", len([]rune(got.Title)), len(got.Body), err)
	}
}
