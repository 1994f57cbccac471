// Package demo holds the living example that `sluice demo` shows: a config
// repository, the images in it, and a short story of releases on their way.
package demo

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"text/template"
)

//go:embed all:example
var example embed.FS

// Image names an example image of one version.
type Image struct {
	Name, Version string
}

// Examples are the images that the example repository starts with.
func Examples() []Image {
	return []Image{
		{"web", "1.0.0"}, {"checkout", "1.0.0"}, {"order-service", "2.0.0"}, {"order-worker", "2.0.0"}, {"catalog", "1.0.0"},
	}
}

// Push pushes an image and returns its digest.
type Push func(ctx context.Context, image Image) (digest string, err error)

// Files is the example repository's first commit. Its images are pushed first,
// so that the digests in it are real ones.
func Files(ctx context.Context, registryHost string, push Push) (map[string][]byte, error) {
	digests := map[Image]string{}
	for _, image := range Examples() {
		digest, err := push(ctx, image)
		if err != nil {
			return nil, fmt.Errorf("push the example image %s %s: %w", image.Name, image.Version, err)
		}
		digests[image] = digest
	}
	functions := template.FuncMap{
		"registry": func() string { return registryHost },
		"digest":   func(name, version string) string { return digests[Image{name, version}] },
	}
	files := map[string][]byte{}
	err := fs.WalkDir(example, "example", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := example.ReadFile(path)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, "example/")
		if strings.Contains(path, "/chart/") {
			files[name] = text // a chart's own templates are Helm's to run
			return nil
		}
		t, err := template.New(path).Funcs(functions).Parse(string(text))
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if err := t.Execute(&out, nil); err != nil {
			return err
		}
		files[name] = out.Bytes()
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("write the example repository: %w", err)
	}
	return files, nil
}
