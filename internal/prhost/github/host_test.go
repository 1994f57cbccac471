package github_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/prhost/github"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/test/fakegithub"
)

func TestOptions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set  func(*github.Options)
		says string
	}{
		"no owner":           {func(o *github.Options) { o.Owner = "" }, "owner"},
		"no name":            {func(o *github.Options) { o.Repository = "" }, "name"},
		"no base branch":     {func(o *github.Options) { o.BaseBranch = "" }, "base branch"},
		"no token":           {func(o *github.Options) { o.Token = nil }, "acme/config needs a token"},
		"merge method":       {func(o *github.Options) { o.MergeMethod = "octopus" }, `"octopus"`},
		"base URL":           {func(o *github.Options) { o.BaseURL = "github.example.com" }, "https://"},
		"base URL, password": {func(o *github.Options) { o.BaseURL = "https://me:" + fakegithub.Token + "@github.example.com" }, "without credentials"},
		"base URL, control":  {func(o *github.Options) { o.BaseURL = "https://" + fakegithub.Token + "\x00" }, "https://"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := github.Options{Owner: "acme", Repository: "config", BaseBranch: "main", Token: func(context.Context) (string, error) { return "", nil }}
			if _, err := github.New(o); err != nil {
				t.Fatal(err)
			}
			c.set(&o)
			_, err := github.New(o)
			tellsNoToken(t, err)
			if !strings.Contains(err.Error(), c.says) {
				t.Fatalf("error is %v, want it to say %q", err, c.says)
			}
		})
	}
}

// GitHub refuses longer texts whole.
func TestLongTextsAreCut(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	h := newHost(t, s)
	p := opened(t, s, h)
	if err := h.Update(t.Context(), p.Number, strings.Repeat("ä", 300), strings.Repeat("ö", 70_000)); err != nil {
		t.Fatal(err)
	}
	if title, body := s.Text(p.Number); len([]rune(title)) != 256 || len([]rune(body)) != 65_536 || !strings.HasSuffix(title, "ä…") {
		t.Errorf("title has %d characters, body %d", len([]rune(title)), len([]rune(body)))
	}
	long := promotion.CommitStatus{Context: "sluice/gates", State: "failure", Description: strings.Repeat("ü", 141), URL: "https://sluice.example.test/1"}
	if err := h.SetStatus(t.Context(), p.HeadSHA, long); err != nil {
		t.Fatal(err)
	}
	want := fakegithub.Status{State: "failure", Description: strings.Repeat("ü", 139) + "…", URL: long.URL}
	if got := s.Status(p.HeadSHA, "sluice/gates"); got != want {
		t.Errorf("status is %+v, want %+v", got, want)
	}
}

// GitHub lists all pull requests when it is asked for those of no branch.
func TestFindNeedsABranch(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	h := newHost(t, s)
	opened(t, s, h)
	if p, err := h.Find(t.Context(), ""); err == nil {
		t.Fatalf("found %+v", p)
	}
}

func TestCloseNamesWhoClosed(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	h := newHost(t, s)
	p := opened(t, s, h)
	if err := h.Close(t.Context(), p.Number, "superseded"); err != nil {
		t.Fatal(err)
	}
	if got, err := h.Find(t.Context(), "promote"); err != nil || got.ClosedBy != fakegithub.Bot {
		t.Fatalf("closed: %+v, %v", got, err)
	}
	wrote(t, s, "POST pulls", "POST issues/1/comments", "PATCH pulls/1")
}
