package manifest_test

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/sluicehq/sluice/internal/manifest"
)

// overlayCase is case.yaml of testdata/overlays, whose README says what the
// keys mean.
type overlayCase struct {
	ID      string `json:"id"`
	Overlay string `json:"overlay"`
	Image   string `json:"image"`
	Target  string `json:"target"`
	Helm    *struct {
		Chart  string `json:"chart"`
		Values string `json:"values"`
		Path   []any  `json:"path"`
		Value  string `json:"value"`
	} `json:"helm"`
	Symlinks []struct {
		Path string `json:"path"`
		To   string `json:"to"`
	} `json:"symlinks"`
	Pad []struct {
		Path  string `json:"path"`
		Line  string `json:"line"`
		Bytes int    `json:"bytes"`
	} `json:"pad"`
	Error  codes `json:"error"`
	Expect struct {
		RenderedImages  []string `json:"rendered_images"`
		ChangedFiles    []string `json:"changed_files"`
		MaxChangedLines int      `json:"max_changed_lines"`
		Keep            []string `json:"keep"`
		AlsoRendered    []struct {
			Object string `json:"object"`
			Path   []any  `json:"path"`
			Value  string `json:"value"`
		} `json:"also_rendered"`
	} `json:"expect"`
}

// codes is one code or a list of which any will do.
type codes []manifest.Code

func (c *codes) UnmarshalJSON(data []byte) error {
	var one manifest.Code
	if yaml.Unmarshal(data, &one) == nil {
		*c = codes{one}
		return nil
	}
	return yaml.Unmarshal(data, (*[]manifest.Code)(c))
}

func TestOverlayCases(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("testdata/overlays/*/case.yaml")
	if err != nil || len(folders) < 51 {
		t.Fatalf("found %d cases, error %v", len(folders), err)
	}
	for _, file := range folders {
		folder := filepath.Dir(file)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var c overlayCase
			if err := yaml.Unmarshal(data, &c); err != nil {
				t.Fatal(err)
			}
			c.run(t, folder)
		})
	}
}

func (c overlayCase) run(t *testing.T, folder string) {
	repo := c.prepare(t, folder)
	before := snapshot(t, repo)
	edit, err := c.edit(repo)
	if c.Error != nil {
		var refusal *manifest.Refusal
		if !errors.As(err, &refusal) || !slices.Contains(c.Error, refusal.Code) {
			t.Fatalf("got error %#v, want a refusal with code %v", err, c.Error)
		}
		if edit.Files != nil {
			t.Errorf("a refused edit changes %v", slices.Collect(maps.Keys(edit.Files)))
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	c.checkSource(t, folder, before, edit)
	c.checkRendering(t, edit)

	again := overlay(t, repo, edit.Files)
	second, err := c.edit(again)
	if err != nil || !second.NoOp || len(second.Files) > 0 {
		t.Errorf("the same edit again: no-op %v, files %d, error %v", second.NoOp, len(second.Files), err)
	}
}

func (c overlayCase) edit(repo string) (manifest.Edit, error) {
	fsys := os.DirFS(repo)
	if c.Helm != nil {
		return manifest.SetValue(fsys, c.Overlay, c.Helm.Chart, c.Helm.Values, pointer(c.Helm.Path), c.Helm.Value)
	}
	return manifest.SetImages(fsys, c.Overlay, []manifest.ImageChange{{Name: c.Image, Target: c.Target}})
}

func (c overlayCase) checkSource(t *testing.T, folder string, before map[string][]byte, edit manifest.Edit) {
	t.Helper()
	if got := slices.Sorted(maps.Keys(edit.Files)); !slices.Equal(got, c.Expect.ChangedFiles) {
		t.Errorf("changed files %v, want %v", got, c.Expect.ChangedFiles)
	}
	total := 0
	for name, data := range edit.Files {
		total += changedLines(before[name], data)
		checkByteStyle(t, name, before[name], data)
		for _, kept := range c.Expect.Keep {
			if bytes.Count(data, []byte(kept)) < bytes.Count(before[name], []byte(kept)) {
				t.Errorf("%s lost %q", name, kept)
			}
		}
		want, err := os.ReadFile(filepath.Join(folder, "after", name))
		if err == nil && !bytes.Equal(want, data) {
			t.Errorf("%s (-want +got):\n%s", name, cmp.Diff(string(want), string(data)))
		}
	}
	if total > c.Expect.MaxChangedLines {
		t.Errorf("%d changed lines, at most %d", total, c.Expect.MaxChangedLines)
	}
}

func (c overlayCase) checkRendering(t *testing.T, edit manifest.Edit) {
	t.Helper()
	if got := references(edit.After); !slices.Equal(got, c.Expect.RenderedImages) {
		t.Errorf("rendered images %v, want %v", got, c.Expect.RenderedImages)
	}
	allowed := map[string]string{}
	for _, also := range c.Expect.AlsoRendered {
		_, name, _ := strings.Cut(also.Object, "/")
		var keys []string
		for _, key := range also.Path {
			keys = append(keys, key.(string))
		}
		allowed[name+" "+strings.Join(keys, ".")] = also.Value
	}
	target := regexp.MustCompile(`:[^/@]*@`).ReplaceAllString(c.Target, "@")
	for _, change := range manifest.Diff(edit.Before, edit.After) {
		key := change.Object.Name + " " + change.Path
		if want, ok := allowed[key]; ok {
			if change.New != want {
				t.Errorf("%s is %q, want %q", key, change.New, want)
			}
			delete(allowed, key)
		} else if c.Helm == nil && change.New != target || !slices.Contains(c.Expect.RenderedImages, change.New) {
			t.Errorf("%s changed from %q to %q", key, change.Old, change.New)
		}
	}
	if len(allowed) > 0 {
		t.Errorf("not changed: %v", allowed)
	}
}

// prepare copies the case, so that links and padding can be added.
func (c overlayCase) prepare(t *testing.T, folder string) string {
	t.Helper()
	root := t.TempDir()
	repo := filepath.Join(root, "repo")
	if err := os.CopyFS(repo, os.DirFS(filepath.Join(folder, "before"))); err != nil {
		t.Fatal(err)
	}
	if outside := filepath.Join(folder, "outside"); isDir(outside) {
		if err := os.CopyFS(filepath.Join(root, "outside"), os.DirFS(outside)); err != nil {
			t.Fatal(err)
		}
	}
	for _, link := range c.Symlinks {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(repo, link.Path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(link.To, filepath.Join(repo, link.Path)); err != nil {
			t.Fatal(err)
		}
	}
	for _, pad := range c.Pad {
		file := filepath.Join(repo, pad.Path)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		line := pad.Line + "\n"
		data = append(data, strings.Repeat(line, pad.Bytes/len(line)+1)...)
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return repo
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// overlay copies a folder with some files replaced.
func overlay(t *testing.T, repo string, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(repo)); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func snapshot(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		relative, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		files[relative], err = os.ReadFile(name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func references(r manifest.Rendered) []string {
	var list []string
	for _, image := range r.Images() {
		list = append(list, image.Reference)
	}
	slices.Sort(list)
	return list
}
