package promotion

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// BuildRequest is what CI posts. The zero Line is "main".
type BuildRequest struct {
	Application    string          `json:"application"`
	Version        string          `json:"version"`
	Line           string          `json:"line"`
	Group          string          `json:"group"`
	GroupExpects   []string        `json:"expects"`
	Artifacts      []BuildArtifact `json:"artifacts"`
	Source         Source          `json:"source"`
	CI             CIRun           `json:"ci"`
	IdempotencyKey string          `json:"-"`
}

// DefaultLine is the line of releases that name none.
const DefaultLine = "main"

var (
	digestForm     = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	repositoryForm = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)+$`)
	versionForm    = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._+-]{0,127}$`)
	commitForm     = regexp.MustCompile(`^[0-9a-f]{7,64}$`)
)

// validate refuses the first thing that is wrong, with how to mend it.
func (r BuildRequest) validate() error {
	if !versionForm.MatchString(r.Version) {
		return invalid("malformed-version", "version",
			"version %q: 1 to 128 letters, digits and . _ + - are allowed, beginning with a letter or digit, such as 1.4.2", r.Version)
	}
	if r.Line != "" && !versionForm.MatchString(r.Line) {
		return invalid("malformed-line", "line", "line %q: use a name such as main or 1.4", r.Line)
	}
	if !commitForm.MatchString(r.Source.Commit) {
		return invalid("malformed-commit", "source.commit", "source.commit %q: give the full commit hash that was built", r.Source.Commit)
	}
	if r.Source.Repository == "" {
		return invalid("missing-source", "source.repository", "source.repository is missing: say which repository the commit is in")
	}
	if len(r.Artifacts) == 0 {
		return invalid("no-artifacts", "artifacts", "artifacts is empty: post at least one image with repository and digest")
	}
	if len(r.GroupExpects) > 0 && r.Group == "" {
		return invalid("missing-group", "group", "expected names are given without a group: name the group that the images complete together")
	}
	return r.validateArtifacts()
}

func (r BuildRequest) validateArtifacts() error {
	seen := map[string]bool{}
	for i, a := range r.Artifacts {
		field := fmt.Sprintf("artifacts[%d].", i)
		switch {
		case a.Digest == "" || !strings.Contains(a.Digest, ":"):
			return invalid("mutable-reference", field+"digest",
				"%s names %s by %q: a tag can point elsewhere tomorrow. Post the digest your push printed, sha256: and 64 hex digits.", field+"digest", a.Repository, a.Digest)
		case !digestForm.MatchString(a.Digest):
			return invalid("malformed-digest", field+"digest",
				"%s is %q: a digest is sha256: and 64 lower-case hex digits, as your push printed it", field+"digest", a.Digest)
		case !repositoryForm.MatchString(a.Repository):
			return invalid("malformed-repository", field+"repository",
				"%s is %q: give registry/path without scheme, tag or digest, such as registry.example.com/shop/web", field+"repository", a.Repository)
		case seen[a.Repository]:
			return invalid("duplicate-artifact", field+"repository", "%s is posted twice in one build; post each image once", a.Repository)
		}
		seen[a.Repository] = true
	}
	return nil
}

// normalised puts equal posts into the same form, so that they have the same fingerprint.
func (r BuildRequest) normalised() BuildRequest {
	if r.Line == "" {
		r.Line = DefaultLine
	}
	r.Artifacts = slices.Clone(r.Artifacts)
	for i, a := range r.Artifacts {
		tags := slices.Clone(a.Tags)
		slices.Sort(tags)
		r.Artifacts[i].Tags = slices.Compact(tags)
	}
	r.GroupExpects = slices.Clone(r.GroupExpects)
	slices.Sort(r.GroupExpects)
	r.GroupExpects = slices.Compact(r.GroupExpects)
	return r
}

// fingerprint identifies a post by its content, whatever the order of its images.
func (r BuildRequest) fingerprint() (string, error) {
	r.Artifacts = slices.SortedFunc(slices.Values(r.Artifacts), func(a, b BuildArtifact) int {
		return strings.Compare(a.Repository, b.Repository)
	})
	canonical, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("fingerprint of a build: %w", err)
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}

// artifactsKey identifies a complete set of artifacts: equal sets are one release.
func artifactsKey(artifacts []Artifact) string {
	lines := make([]string, 0, len(artifacts))
	for _, a := range artifacts {
		lines = append(lines, a.Reference())
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}
