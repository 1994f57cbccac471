package fakegithub

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// descriptionVersion is the release of npm's @octokit/openapi: GitHub's own
// description of its API.
const descriptionVersion = "23.0.2"

// used are the paths that the fake answers; loading all would take long.
var used = []string{
	"/repos/{owner}/{repo}/pulls",
	"/repos/{owner}/{repo}/pulls/{pull_number}",
	"/repos/{owner}/{repo}/pulls/{pull_number}/merge",
	"/repos/{owner}/{repo}/compare/{basehead}",
	"/repos/{owner}/{repo}/issues/{issue_number}",
	"/repos/{owner}/{repo}/issues/{issue_number}/comments",
	"/repos/{owner}/{repo}/issues/{issue_number}/events",
	"/repos/{owner}/{repo}/issues/comments/{comment_id}",
	"/repos/{owner}/{repo}/pulls/{pull_number}/reviews",
	"/repos/{owner}/{repo}/statuses/{sha}",
	"/repos/{owner}/{repo}/branches/{branch}/protection",
	"/repos/{owner}/{repo}/rules/branches/{branch}",
	"/repos/{owner}/{repo}/rulesets",
	"/repos/{owner}/{repo}/rulesets/{ruleset_id}",
	"/repos/{owner}/{repo}/hooks",
	"/repos/{owner}/{repo}/hooks/{hook_id}",
	"/repos/{owner}/{repo}/installation",
	"/app/installations/{installation_id}/access_tokens",
}

// description is what GitHub says of the calls that are used.
type description struct {
	router   routers.Router
	examples map[string]json.RawMessage
}

// load is done once per process.
var load = sync.OnceValues(func() (*description, error) {
	content, err := download()
	if err != nil {
		return nil, fmt.Errorf("GitHub's OpenAPI description @octokit/openapi@%s, which the tests validate against, cannot be had with npm: %w", descriptionVersion, err)
	}
	return parse(content)
})

// download reads the description from the user's cache, where npm puts it first.
func download() ([]byte, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(cache, "sluice")
	file := filepath.Join(dir, "octokit-openapi-"+descriptionVersion+".json")
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
	defer os.RemoveAll(scratch) //nolint:errcheck // a left-over folder in a cache does no harm
	if out, err := command(scratch, "npm", "pack", "--loglevel=error", "@octokit/openapi@"+descriptionVersion); err != nil {
		return nil, fmt.Errorf("npm pack: %w\n%s", err, out)
	}
	const name = "package/generated/api.github.com.json"
	if out, err := command(scratch, "tar", "-xzf", "octokit-openapi-"+descriptionVersion+".tgz", name); err != nil {
		return nil, fmt.Errorf("unpack: %w\n%s", err, out)
	}
	// Renaming keeps another process from reading half of it.
	if err := os.Rename(filepath.Join(scratch, filepath.FromSlash(name)), file); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

func command(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// parse keeps the used paths and what they refer to.
func parse(content []byte) (*description, error) {
	var whole map[string]any
	if err := json.Unmarshal(content, &whole); err != nil {
		return nil, err
	}
	paths, kept := whole["paths"].(map[string]any), map[string]any{}
	part := map[string]any{"openapi": whole["openapi"], "info": whole["info"], "paths": kept, "components": map[string]any{}}
	for _, path := range used {
		if paths[path] == nil {
			return nil, fmt.Errorf("GitHub's description has no path %s", path)
		}
		kept[path] = paths[path]
		keep(part, whole, paths[path])
	}
	small, err := json.Marshal(part)
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(small)
	if err != nil {
		return nil, err
	}
	d := &description{}
	if d.router, err = gorillamux.NewRouter(doc); err != nil {
		return nil, err
	}
	d.examples = map[string]json.RawMessage{}
	for name, example := range doc.Components.Examples {
		if d.examples[name], err = json.Marshal(example.Value.Value); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// keep copies every component that a part of the document refers to.
func keep(part, whole map[string]any, node any) {
	switch node := node.(type) {
	case []any:
		for _, n := range node {
			keep(part, whole, n)
		}
	case map[string]any:
		if ref, is := node["$ref"].(string); is {
			keepComponent(part, whole, ref)
		}
		for _, n := range node {
			keep(part, whole, n)
		}
	}
}

func keepComponent(part, whole map[string]any, ref string) {
	kind, name, _ := strings.Cut(strings.TrimPrefix(ref, "#/components/"), "/")
	all := part["components"].(map[string]any)
	if all[kind] == nil {
		all[kind] = map[string]any{}
	}
	if all[kind].(map[string]any)[name] != nil {
		return
	}
	component := whole["components"].(map[string]any)[kind].(map[string]any)[name]
	all[kind].(map[string]any)[name] = component
	keep(part, whole, component)
}

// example is a fresh copy of one of GitHub's examples.
func (d *description) example(name string) object {
	var o object
	if err := json.Unmarshal(d.examples[name], &o); err != nil {
		panic(fmt.Sprintf("GitHub's example %s: %v", name, err))
	}
	return o
}

type object = map[string]any
