package prhosttest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Sources runs what a host says of source repositories. The fixture's own repository serves as one, under its name there,
// such as acme/web, and its server's, such as github.com.
func Sources(t *testing.T, sources promotion.Sources, remote, server, name string) {
	t.Helper()
	git := NewClone(t, remote)
	commits := []string{git.Push("main", "source.txt", "0\n")}
	const newer = 3
	for n := range newer {
		git.Write("source.txt", fmt.Sprint(n+1, "\n"))
		git.Git("commit", "--quiet", "--all", "--message", fmt.Sprintf("Change %d\n\nbecause", n+1))
		commits = append(commits, git.Git("rev-parse", "HEAD"))
	}
	git.Git("push", "--quiet", "origin", "HEAD:main")
	oldest, newest := commits[0], commits[newer]
	for _, as := range []string{name, server + "/" + name, "https://" + server + "/" + name + ".git"} {
		got, err := sources.Between(t.Context(), as, oldest, newest)
		if err != nil {
			t.Fatalf("%s: %v", as, err)
		}
		if got.Total != newer || len(got.Commits) != newer || got.Commits[0].SHA != newest || got.Commits[0].Title != "Change 3" ||
			got.Commits[0].Author == "" || got.Commits[newer-1].SHA != commits[1] || !strings.Contains(got.URL, oldest) {
			t.Errorf("%s: got %+v", as, got)
		}
	}
	if got, err := sources.Between(t.Context(), name, newest, newest); err != nil || got.Total != 0 || len(got.Commits) != 0 {
		t.Errorf("a commit and itself: got %+v, %v", got, err)
	}
	for what, ask := range map[string][2]string{
		"another server":    {"elsewhere.example.test/" + name, newest},
		"no such repo":      {name + "-that-is-not", newest},
		"no such commit":    {name, strings.Repeat("e", 40)},
		"not a repository":  {"web", newest},
		"below another one": {server + "/" + name + "/web", newest},
	} {
		if got, err := sources.Between(t.Context(), ask[0], oldest, ask[1]); !errors.Is(err, promotion.ErrNotFound) {
			t.Errorf("%s: got %+v, %v; want not found", what, got, err)
		}
	}
}
