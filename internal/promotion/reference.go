package promotion

import (
	"net/url"
	"path"
	"strings"
)

// splitReference takes an image reference apart. A port's colon is no tag.
func splitReference(ref string) (repository, tag, digest string) {
	repository, digest, _ = strings.Cut(ref, "@")
	if i := strings.LastIndexByte(repository, ':'); i > strings.LastIndexByte(repository, '/') {
		repository, tag = repository[:i], repository[i+1:]
	}
	if digest == "" && tag == "" {
		tag = "latest"
	}
	return repository, tag, digest
}

// withoutTag drops the tag of a reference that has a digest: the digest alone decides what runs.
func withoutTag(ref string) string {
	repository, _, digest := splitReference(ref)
	if digest == "" {
		return ref
	}
	return repository + "@" + digest
}

// RepositoryOf is an image reference without its tag and digest.
func RepositoryOf(reference string) string {
	repository, _, _ := splitReference(reference)
	return repository
}

// artifactOf is a rendered image as an artifact of an imported release.
func artifactOf(img OverlayImage) Artifact {
	repository, tag, digest := splitReference(img.Reference)
	if digest != "" {
		tag = ""
	}
	return Artifact{Name: path.Base(img.Name), Repository: repository, Tag: tag, Digest: digest}
}

// SameRepository tells whether two addresses name one Git repository: scheme,
// user, port, case of the host and a final .git or slash make no difference.
func SameRepository(a, b string) bool {
	return a != "" && normalRepository(a) == normalRepository(b)
}

func normalRepository(address string) string {
	if !strings.Contains(address, "://") {
		if host, rest, ok := strings.Cut(address, ":"); ok && !strings.Contains(host, "/") {
			address = "ssh://" + host + "/" + rest // scp-like: git@host:path
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	p := strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
	return strings.ToLower(u.Hostname()) + "/" + strings.ToLower(p)
}
