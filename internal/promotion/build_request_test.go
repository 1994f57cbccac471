package promotion_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// TestRefusedBuilds: what is refused never reaches the store, which is not even there.
func TestRefusedBuilds(t *testing.T) {
	t.Parallel()
	const repository = "registry.example.com/shop/web"
	digest := "sha256:" + strings.Repeat("a", 64)
	ci := promotion.Actor{Name: "ci", Kind: promotion.Token, Roles: []promotion.Role{promotion.RoleCI}}
	good := func() promotion.BuildRequest {
		return promotion.BuildRequest{Version: "1.4.2", Artifacts: []promotion.BuildArtifact{{Repository: repository, Digest: digest}},
			Source: promotion.Source{Repository: "https://git.example.com/shop/web", Commit: "0123456789abcdef0123456789abcdef01234567"}}
	}
	attests := func(all ...promotion.BuildAttestation) func(*promotion.BuildRequest) {
		return func(r *promotion.BuildRequest) { r.Attestations = all }
	}
	tests := []struct {
		name   string
		by     promotion.Actor
		change func(*promotion.BuildRequest)
		code   string
		field  string
	}{
		{"a viewer", promotion.Actor{Name: "vera", Roles: []promotion.Role{promotion.RoleViewer}}, func(*promotion.BuildRequest) {}, "forbidden", ""},
		{"nobody", promotion.Actor{}, func(*promotion.BuildRequest) {}, "forbidden", ""},
		{"a tag instead of a digest", ci, func(r *promotion.BuildRequest) { r.Artifacts[0].Digest = "latest" }, "mutable-reference", "artifacts[0].digest"},
		{"no digest", ci, func(r *promotion.BuildRequest) { r.Artifacts[0].Digest = "" }, "mutable-reference", "artifacts[0].digest"},
		{"a short digest", ci, func(r *promotion.BuildRequest) { r.Artifacts[0].Digest = "sha256:abc" }, "malformed-digest", "artifacts[0].digest"},
		{"capital hex digits", ci, func(r *promotion.BuildRequest) { r.Artifacts[0].Digest = strings.ToUpper(digest) }, "malformed-digest", "artifacts[0].digest"},
		{"another algorithm", ci, func(r *promotion.BuildRequest) { r.Artifacts[0].Digest = "md5:" + strings.Repeat("a", 32) }, "malformed-digest", "artifacts[0].digest"},
		{"a tag in the repository", ci, func(r *promotion.BuildRequest) { r.Artifacts[0].Repository += ":1.4" }, "malformed-repository", "artifacts[0].repository"},
		{"a scheme in the repository", ci, func(r *promotion.BuildRequest) { r.Artifacts[0].Repository = "https://" + repository }, "malformed-repository", "artifacts[0].repository"},
		{"twice the same image", ci, func(r *promotion.BuildRequest) { r.Artifacts = append(r.Artifacts, r.Artifacts[0]) }, "duplicate-artifact", "artifacts[1].repository"},
		{"no image", ci, func(r *promotion.BuildRequest) { r.Artifacts = nil }, "no-artifacts", "artifacts"},
		{"no version", ci, func(r *promotion.BuildRequest) { r.Version = "" }, "malformed-version", "version"},
		{"a line feed in the version", ci, func(r *promotion.BuildRequest) { r.Version = "1.4\n2" }, "malformed-version", "version"},
		{"a branch instead of a commit", ci, func(r *promotion.BuildRequest) { r.Source.Commit = "main" }, "malformed-commit", "source.commit"},
		{"a token in the source", ci, func(r *promotion.BuildRequest) {
			r.Source.Repository = "https://ci-token:s3cret@git.example.com/shop/web.git"
		}, "credential-in-source", "source.repository"},
		{"a token as the user", ci, func(r *promotion.BuildRequest) { r.Source.Repository = "HTTPS://s3cret@git.example.com/shop/web" }, "credential-in-source", "source.repository"},
		{"a password for ssh", ci, func(r *promotion.BuildRequest) { r.Source.Repository = "ssh://git:s3cret@git.example.com/shop/web" }, "credential-in-source", "source.repository"},
		{"a token in the run's address", ci, func(r *promotion.BuildRequest) { r.CI.RunURL = "https://s3cret@ci.example.com/1" }, "credential-in-source", "ci.run_url"},
		{"no source repository", ci, func(r *promotion.BuildRequest) { r.Source.Repository = "" }, "missing-source", "source.repository"},
		{"an attestation of nothing", ci, attests(promotion.BuildAttestation{Subject: "moods", Verdict: "compatible", Since: "1.4.1"}), "unknown-subject", "attestations[0].subject"},
		{"an attestation that says nothing", ci, attests(promotion.BuildAttestation{Subject: "caches", Verdict: "fine"}), "malformed-verdict", "attestations[0].verdict"},
		{"compatible with whatever", ci, attests(promotion.BuildAttestation{Subject: "caches", Verdict: "compatible"}), "missing-since", "attestations[0].since"},
		{"incompatible since", ci, attests(promotion.BuildAttestation{Subject: "caches", Verdict: "incompatible", Since: "1.4.1"}), "since-of-incompatible", "attestations[0].since"},
		{"one subject twice", ci, attests(promotion.BuildAttestation{Subject: "data", Verdict: "incompatible"}, promotion.BuildAttestation{Subject: "data", Verdict: "compatible", Since: "1"}),
			"duplicate-attestation", "attestations[1].subject"},
		{"a long attestation", ci, attests(promotion.BuildAttestation{Subject: "data", Verdict: "incompatible", Summary: strings.Repeat("x", 2001)}), "long-summary", "attestations[0].summary"},
		{"expected names without a group", ci, func(r *promotion.BuildRequest) { r.GroupExpects = []string{"web"} }, "missing-group", "group"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := good()
			tt.change(&r)
			_, _, err := (&promotion.Service{}).RecordBuild(context.Background(), tt.by, r)
			var refusal *promotion.Error
			if !errors.As(err, &refusal) {
				t.Fatalf("got %v, want a refusal", err)
			}
			if refusal.Code != tt.code || refusal.Field != tt.field {
				t.Errorf("got code %q field %q, want %q %q", refusal.Code, refusal.Field, tt.code, tt.field)
			}
		})
	}
}

func TestBoundariesAreEnumeratedFromTheSteps(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, b := range promotion.Boundaries() {
		if seen[b] {
			t.Errorf("boundary %s is listed twice", b)
		}
		seen[b] = true
	}
	if len(seen) < 30 {
		t.Errorf("only %d boundaries", len(seen))
	}
}

// What was posted before there were charts has the fingerprint that it always had.
func TestABuildWithoutChartsIsWrittenAsBefore(t *testing.T) {
	t.Parallel()
	for _, charts := range [][]promotion.Chart{nil, {}} {
		text, err := json.Marshal(promotion.BuildRequest{Charts: charts})
		const before = `{"application":"","version":"","line":"","group":"","expects":null,"artifacts":null,` +
			`"source":{"Repository":"","Commit":"","Ref":""},"ci":{"Provider":"","RunURL":""}}`
		if err != nil || string(text) != before {
			t.Errorf("written as %s, error %v", text, err)
		}
	}
}
