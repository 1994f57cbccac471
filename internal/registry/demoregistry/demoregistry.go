// Package demoregistry is a small OCI registry for the demo, and what pushes images
// to it. What it holds is kept in files and survives a restart. It knows no users:
// serve it on the loopback interface only.
package demoregistry

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"regexp"

	"github.com/google/go-containerregistry/pkg/registry"
)

// Open is the registry that is kept in a folder, which is made if it is not there.
// Blobs are go-containerregistry's, whose manifests live in memory only; so
// manifests and tags are our own.
func Open(dir string) (http.Handler, error) {
	blobs := filepath.Join(dir, "blobs")
	for _, folder := range []string{blobs, filepath.Join(dir, "repositories")} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, fmt.Errorf("opening the demo's registry: %w", err)
		}
	}
	root, err := os.OpenRoot(filepath.Join(dir, "repositories"))
	if err != nil {
		return nil, fmt.Errorf("opening the demo's registry: %w", err)
	}
	return &handler{
		manifests: &store{root: root},
		others: registry.New(
			registry.WithBlobHandler(registry.NewDiskBlobHandler(blobs)),
			registry.Logger(log.New(io.Discard, "", 0)),
		),
	}, nil
}

// handler serves manifests and tags, and hands on what is about blobs.
type handler struct {
	manifests *store
	others    http.Handler
}

// The paths of the OCI distribution specification 1.1, with the names it allows.
var (
	manifestPath = regexp.MustCompile(`^/v2/([a-z0-9]+(?:(?:\.|_|__|-+|/)[a-z0-9]+)*)/manifests/(sha256:[0-9a-f]{64}|\w[\w.-]{0,127})$`)
	tagsPath     = regexp.MustCompile(`^/v2/([a-z0-9]+(?:(?:\.|_|__|-+|/)[a-z0-9]+)*)/tags/list$`)
)

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if match := tagsPath.FindStringSubmatch(r.URL.Path); match != nil && r.Method == http.MethodGet {
		h.tags(w, match[1])
		return
	}
	match := manifestPath.FindStringSubmatch(r.URL.Path)
	if match == nil {
		h.others.ServeHTTP(w, r)
		return
	}
	switch repository, reference := match[1], match[2]; r.Method {
	case http.MethodGet, http.MethodHead:
		h.get(w, repository, reference)
	case http.MethodPut:
		h.put(w, r, repository, reference)
	case http.MethodDelete:
		h.delete(w, repository, reference)
	default:
		refuse(w, http.StatusMethodNotAllowed, "UNSUPPORTED", "not a way to use a manifest")
	}
}
