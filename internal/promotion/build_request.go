package promotion

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// BuildRequest is what CI posts. The zero Line is "main".
type BuildRequest struct {
	Application    string             `json:"application"`
	Version        string             `json:"version"`
	Line           string             `json:"line"`
	Group          string             `json:"group"`
	GroupExpects   []string           `json:"expects"`
	Artifacts      []BuildArtifact    `json:"artifacts"`
	Charts         []Chart            `json:"charts,omitempty"`
	Source         Source             `json:"source"`
	CI             CIRun              `json:"ci"`
	Migrations     *Migrations        `json:"migrations,omitempty"` // nil when CI posts none
	Attestations   []BuildAttestation `json:"attestations,omitempty"`
	IdempotencyKey string             `json:"-"`
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
	if err := r.validateSource(); err != nil {
		return err
	}
	if len(r.Artifacts) == 0 && len(r.Charts) == 0 {
		return invalid("no-artifacts", "artifacts", "artifacts is empty: post at least one image with repository and digest, or a chart")
	}
	if len(r.GroupExpects) > 0 && r.Group == "" {
		return invalid("missing-group", "group", "expected names are given without a group: name the group that the images complete together")
	}
	if r.Migrations != nil {
		if err := r.Migrations.validate(); err != nil {
			return err
		}
	}
	if err := r.validateAttestations(); err != nil {
		return err
	}
	if err := r.validateArtifacts(); err != nil {
		return err
	}
	return r.validateCharts()
}

func (r BuildRequest) validateSource() error {
	switch {
	case !commitForm.MatchString(r.Source.Commit):
		return invalid("malformed-commit", "source.commit", "source.commit %q: give the full commit hash that was built", r.Source.Commit)
	case r.Source.Repository == "":
		return invalid("missing-source", "source.repository", "source.repository is missing: say which repository the commit is in")
	case slices.ContainsFunc(r.Source.Authors, func(a string) bool { return strings.TrimSpace(a) == "" }):
		return invalid("malformed-author", "source.authors", "source.authors has a blank entry: give names, logins or e-mail addresses")
	case holdsCredential(r.Source.Repository):
		return invalid("credential-in-source", "source.repository",
			"source.repository holds a credential, which everybody who reads the pull request would see: post the address without it, and renew it if it went elsewhere too")
	case holdsCredential(r.CI.RunURL):
		return invalid("credential-in-source", "ci.run_url", "ci.run_url holds a credential: post the address without it")
	}
	return nil
}

// holdsCredential: an address such as https://token@host/path. The user of ssh://git@host is none.
func holdsCredential(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return false
	}
	_, password := u.User.Password()
	return password || strings.HasPrefix(strings.ToLower(u.Scheme), "http")
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
		r.Artifacts[i].Tags = distinct(slices.Clone(a.Tags))
	}
	r.GroupExpects = distinct(slices.Clone(r.GroupExpects))
	r.Migrations = r.Migrations.hashed()
	return r
}

// fingerprint identifies a post by its content, whatever the order of its images.
func (r BuildRequest) fingerprint() (string, error) {
	r.Artifacts = slices.SortedFunc(slices.Values(r.Artifacts), func(a, b BuildArtifact) int {
		return strings.Compare(a.Repository, b.Repository)
	})
	r.Charts = slices.SortedFunc(slices.Values(r.Charts), func(a, b Chart) int { return strings.Compare(a.Name, b.Name) })
	r.Attestations = slices.SortedFunc(slices.Values(r.Attestations), func(a, b BuildAttestation) int { return strings.Compare(string(a.Subject), string(b.Subject)) })
	canonical, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("fingerprint of a build: %w", err)
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}

// artifactsKey identifies a complete set of artifacts and charts: equal sets are one release.
func artifactsKey(r Release) string {
	lines := make([]string, 0, len(r.Artifacts)+len(r.Charts))
	for _, a := range r.Artifacts {
		lines = append(lines, a.Reference())
	}
	for _, c := range r.Charts {
		lines = append(lines, "chart "+c.String())
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}
