package demoregistry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// maxManifest is what a registry must at least accept, by the specification.
const maxManifest = 4 << 20

func (h *handler) get(w http.ResponseWriter, repository, reference string) {
	found, digest, err := h.manifests.read(repository, reference)
	if err != nil {
		refuseFor(w, err)
		return
	}
	w.Header().Set("Content-Type", found.MediaType)
	w.Header().Set("Content-Length", strconv.Itoa(len(found.Content)))
	w.Header().Set("Docker-Content-Digest", digest)
	_, _ = w.Write(found.Content) // dropped by net/http for HEAD
}

// put keeps a manifest under its digest and, if it came with one, under its tag.
func (h *handler) put(w http.ResponseWriter, r *http.Request, repository, reference string) {
	content, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxManifest))
	if err != nil {
		refuse(w, http.StatusRequestEntityTooLarge, "SIZE_INVALID", "the manifest is too large or was cut short")
		return
	}
	sum := sha256.Sum256(content)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	if isDigest(reference) && reference != digest {
		refuse(w, http.StatusBadRequest, "DIGEST_INVALID", "the manifest has digest "+digest)
		return
	}
	if missing := h.missing(repository, content); missing != "" {
		refuse(w, http.StatusBadRequest, "MANIFEST_BLOB_UNKNOWN", "push "+missing+" first")
		return
	}
	if err := h.manifests.write(repository, digest, manifest{MediaType: r.Header.Get("Content-Type"), Content: content}); err != nil {
		refuseFor(w, err)
		return
	}
	if !isDigest(reference) {
		if err := h.manifests.tag(repository, reference, digest); err != nil {
			refuseFor(w, err)
			return
		}
	}
	w.Header().Set("Docker-Content-Digest", digest)
	w.Header().Set("Location", "/v2/"+repository+"/manifests/"+digest)
	w.WriteHeader(http.StatusCreated)
}

// missing is a manifest that an index lists and that was not pushed, if any.
func (h *handler) missing(repository string, content []byte) string {
	var index v1.IndexManifest
	if err := json.Unmarshal(content, &index); err != nil {
		return "a manifest that is JSON"
	}
	for _, listed := range index.Manifests {
		if _, _, err := h.manifests.read(repository, listed.Digest.String()); err != nil {
			return listed.Digest.String()
		}
	}
	return ""
}

func (h *handler) delete(w http.ResponseWriter, repository, reference string) {
	if err := h.manifests.remove(repository, reference); err != nil {
		refuseFor(w, err)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

func (h *handler) tags(w http.ResponseWriter, repository string) {
	tags, err := h.manifests.tags(repository)
	if err != nil {
		refuseFor(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(struct {
		Name string   `json:"name"`
		Tags []string `json:"tags"`
	}{repository, tags})
}

func isDigest(reference string) bool { return strings.HasPrefix(reference, "sha256:") }

func refuseFor(w http.ResponseWriter, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		refuse(w, http.StatusNotFound, "MANIFEST_UNKNOWN", "no such manifest")
		return
	}
	refuse(w, http.StatusInternalServerError, "UNKNOWN", err.Error())
}

// refuse answers with an error of the specification's form.
func refuse(w http.ResponseWriter, status int, code, message string) {
	type diagnostic struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string][]diagnostic{"errors": {{code, message}}})
}
