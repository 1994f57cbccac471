package manifest

import (
	"regexp"
	"strings"
)

var (
	digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	// A host may have capitals and a port, a path may not; see the grammar in
	// github.com/distribution/reference.
	repositoryForm = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]+)?/)?` +
		`[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$`)
)

// reference is an image reference, split. tag and digest may be empty.
type reference struct {
	repository string
	tag        string
	digest     string
}

// splitReference splits repository[:tag][@digest] the way kustomize does: the
// colon before a registry's port is not a tag. It does not validate.
func splitReference(s string) reference {
	name, digest, _ := strings.Cut(s, "@")
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		return reference{repository: name[:i], tag: name[i+1:], digest: digest}
	}
	return reference{repository: name, digest: digest}
}

// parseTarget accepts repository@sha256:… only. A tag next to the digest is
// dropped, since a reference with both would say two things.
func parseTarget(target string) (reference, error) {
	ref := splitReference(target)
	switch {
	case !strings.Contains(target, "@"):
		return ref, refuse(MutableReference, "", 0,
			"%q has no digest: a tag can move, so give repository@sha256:…", target)
	case !digestForm.MatchString(ref.digest):
		return ref, refuse(BadDigest, "", 0,
			"%q is not a digest: it takes sha256: and 64 lower-case hex digits", ref.digest)
	case !repositoryForm.MatchString(ref.repository):
		return ref, refuse(BadReference, "", 0, "%q is not a repository name", ref.repository)
	}
	ref.tag = ""
	return ref, nil
}

// String puts the reference together again.
func (r reference) String() string {
	s := r.repository
	if r.tag != "" {
		s += ":" + r.tag
	}
	if r.digest != "" {
		s += "@" + r.digest
	}
	return s
}
