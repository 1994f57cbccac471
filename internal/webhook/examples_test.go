package webhook_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// examplesVersion is the release of npm's @octokit/webhooks-examples: payloads as GitHub sends them.
const examplesVersion = "7.6.1"

// example is the payloads of one kind of event.
type example struct {
	Name     string
	Examples []json.RawMessage
}

func TestGitHubsExamples(t *testing.T) {
	t.Parallel()
	content, err := examples()
	if err != nil {
		t.Fatalf("GitHub's example payloads @octokit/webhooks-examples@%s cannot be had with npm: %v", examplesVersion, err)
	}
	var kinds []example
	if err := json.Unmarshal(content, &kinds); err != nil {
		t.Fatal(err)
	}
	sent, looks := 0, map[string]int{}
	for _, kind := range kinds {
		for i, body := range kind.Examples {
			got := &receiver{}
			answer := send(newDoor(t, got), delivery(kind.Name, string(body)))
			if answer.Code != http.StatusAccepted {
				t.Errorf("%s %d: answered %d: %s", kind.Name, i, answer.Code, answer.Body)
			}
			sent++
			looks[kind.Name] += len(got.events)
			for _, e := range got.events {
				if owner, name, _ := strings.Cut(e.Repository, "/"); owner == "" || name == "" {
					t.Errorf("%s %d: received %+v", kind.Name, i, e)
				}
				if about := strings.HasPrefix(kind.Name, "pull_request"); about != (e.PullRequest > 0) {
					t.Errorf("%s %d: received %+v", kind.Name, i, e)
				}
				if kind.Name == "push" && len(e.Refs) != 1 {
					t.Errorf("%s %d: received %+v", kind.Name, i, e)
				}
			}
		}
	}
	if len(kinds) != 58 || sent != 329 {
		t.Errorf("sent %d payloads of %d events", sent, len(kinds))
	}
	for _, kind := range kinds {
		want := 0
		if kind.Name == "push" || kind.Name == "repository" || strings.HasPrefix(kind.Name, "pull_request") {
			want = len(kind.Examples)
		}
		if looks[kind.Name] != want {
			t.Errorf("%s: %d looks of %d payloads, want %d", kind.Name, looks[kind.Name], len(kind.Examples), want)
		}
	}
}

// examples reads the payloads from the user's cache, where npm puts them first.
func examples() ([]byte, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(cache, "sluice")
	file := filepath.Join(dir, "octokit-webhooks-examples-"+examplesVersion+".json")
	if content, err := os.ReadFile(file); !errors.Is(err, fs.ErrNotExist) {
		return content, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp(dir, "npm-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	if err := run(scratch, "npm", "pack", "--loglevel=error", "@octokit/webhooks-examples@"+examplesVersion); err != nil {
		return nil, err
	}
	const name = "package/api.github.com/index.json"
	if err := run(scratch, "tar", "-xzf", "octokit-webhooks-examples-"+examplesVersion+".tgz", name); err != nil {
		return nil, err
	}
	// Renaming keeps another process from reading half of it.
	if err := os.Rename(filepath.Join(scratch, filepath.FromSlash(name)), file); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

func run(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
