package demoregistry

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
)

// manifest is what is kept of one: its bytes are what its digest is of.
type manifest struct {
	MediaType string `json:"mediaType"`
	Content   []byte `json:"content"`
}

// store keeps manifests and tags as files: <repository>/_manifests/<hex> and
// <repository>/_tags/<tag>, which holds a digest. No repository is named like these.
type store struct {
	root    *os.Root
	writing sync.Mutex
}

func manifestFile(repository, digest string) string {
	return path.Join(repository, "_manifests", strings.TrimPrefix(digest, "sha256:"))
}

func tagFile(repository, tag string) string { return path.Join(repository, "_tags", tag) }

// read finds a manifest by digest or tag. fs.ErrNotExist.
func (s *store) read(repository, reference string) (manifest, string, error) {
	digest := reference
	if !isDigest(reference) {
		content, err := s.root.ReadFile(tagFile(repository, reference))
		if err != nil {
			return manifest{}, "", err
		}
		digest = string(content)
	}
	content, err := s.root.ReadFile(manifestFile(repository, digest))
	if err != nil {
		return manifest{}, "", err
	}
	var found manifest
	err = json.Unmarshal(content, &found)
	return found, digest, err
}

func (s *store) write(repository, digest string, m manifest) error {
	content, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return s.replace(manifestFile(repository, digest), content)
}

func (s *store) tag(repository, tag, digest string) error {
	return s.replace(tagFile(repository, tag), []byte(digest))
}

// replace writes a file whole or not at all.
func (s *store) replace(name string, content []byte) error {
	if err := s.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	// A tag never begins with a dot, so an unfinished file is never taken for one.
	unfinished := path.Join(path.Dir(name), ".unfinished-"+path.Base(name))
	if err := s.root.WriteFile(unfinished, content, 0o644); err != nil {
		return err
	}
	return s.root.Rename(unfinished, name)
}

// remove forgets a manifest by its digest, or a tag. fs.ErrNotExist.
func (s *store) remove(repository, reference string) error {
	if isDigest(reference) {
		return s.root.Remove(manifestFile(repository, reference))
	}
	return s.root.Remove(tagFile(repository, reference))
}

// tags are a repository's tags, sorted. fs.ErrNotExist if there is no such repository.
func (s *store) tags(repository string) ([]string, error) {
	tags := []string{}
	entries, err := fs.ReadDir(s.root.FS(), path.Join(repository, "_tags"))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := s.root.Stat(path.Join(repository, "_manifests")); err != nil {
			return nil, err
		}
		return tags, nil
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ".") {
			tags = append(tags, entry.Name())
		}
	}
	return tags, err
}
