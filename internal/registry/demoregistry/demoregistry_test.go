package demoregistry_test

import (
	"archive/tar"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/sluicehq/sluice/internal/registry/demoregistry"
)

func serve(t *testing.T, dir string) (server *httptest.Server, host string) {
	t.Helper()
	handler, err := demoregistry.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	server = httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server, strings.TrimPrefix(server.URL, "http://")
}

func platforms() []string { return []string{"linux/amd64", "linux/arm64"} }

func push(t *testing.T, host, version string, opts ...demoregistry.PushOption) string {
	t.Helper()
	digest, err := demoregistry.PushImage(t.Context(), host, "shop/api", version, platforms(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

func pull(t *testing.T, reference string) v1.ImageIndex {
	t.Helper()
	ref, err := name.ParseReference(reference)
	if err != nil {
		t.Fatal(err)
	}
	index, err := remote.Index(ref, remote.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return index
}

func TestPushedImageIsWhole(t *testing.T) {
	t.Parallel()
	_, host := serve(t, t.TempDir())
	digest := push(t, host, "1.4.0", demoregistry.WithRevision("0123abcd"))
	index := pull(t, host+"/shop/api:1.4.0")
	if got, err := index.Digest(); err != nil || got.String() != digest {
		t.Errorf("the tag stands for %s, %v; want %s", got, err, digest)
	}
	if err := validate.Index(index, validate.Fast); err != nil {
		t.Error(err)
	}
	listed, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range platforms() {
		image, err := index.Image(listed.Manifests[i].Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		labels := config.Config.Labels
		if config.Platform().String() != want || labels["org.opencontainers.image.version"] != "1.4.0" || labels["org.opencontainers.image.revision"] != "0123abcd" {
			t.Errorf("%s: %v %v", want, config.Platform(), labels)
		}
		if text := layerText(t, image); !strings.HasPrefix(text, "shop/api 1.4.0 for "+want) {
			t.Errorf("the layer says %q", text)
		}
	}
}

// layerText pulls the one layer, which go-containerregistry verifies, and reads its one file.
func layerText(t *testing.T, image v1.Image) string {
	t.Helper()
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatal(layers, err)
	}
	content, err := layers[0].Compressed()
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(content)
	if _, err := archive.Next(); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(archive)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestDigestFollowsFromArguments(t *testing.T) {
	t.Parallel()
	_, first := serve(t, t.TempDir())
	_, second := serve(t, t.TempDir())
	digest := push(t, first, "1.4.0")
	// The same on every machine, so that documentation may name it.
	if want := "sha256:f7b1f261e500074125ab0ef6da1a27522a2e91f3c9a36b45ac5c34adad1d0ed1"; digest != want {
		t.Errorf("digest %s, want %s", digest, want)
	}
	if again := push(t, first, "1.4.0"); again != digest {
		t.Errorf("pushed again: %s, then %s", digest, again)
	}
	if elsewhere := push(t, second, "1.4.0"); elsewhere != digest {
		t.Errorf("pushed elsewhere: %s, then %s", digest, elsewhere)
	}
	seen := map[string]string{digest: "as it is"}
	for what, other := range map[string]string{
		"another version":  push(t, first, "1.4.1"),
		"another revision": push(t, first, "1.4.0", demoregistry.WithRevision("ff")),
		"a salt":           push(t, first, "1.4.0", demoregistry.WithSalt("rebuilt")),
		"another salt":     push(t, first, "1.4.0", demoregistry.WithSalt("again")),
	} {
		if same, ok := seen[other]; ok {
			t.Errorf("%s gives the digest of %s", what, same)
		}
		seen[other] = what
	}
}

func TestSurvivesRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, host := serve(t, dir)
	old := push(t, host, "1.4.0")
	moved := push(t, host, "1.4.0", demoregistry.WithSalt("rebuilt"))
	server.Close()

	_, host = serve(t, dir)
	if err := validate.Index(pull(t, host+"/shop/api@"+old), validate.Fast); err != nil {
		t.Error(err)
	}
	if got, err := pull(t, host+"/shop/api:1.4.0").Digest(); err != nil || got.String() != moved {
		t.Errorf("the tag stands for %s, %v; want %s", got, err, moved)
	}
}

// TestLoss: what is deleted stays deleted, and what is left can be served after a restart.
func TestLoss(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, host := serve(t, dir)
	digest := push(t, host, "1.4.0")
	listed, err := pull(t, host+"/shop/api@"+digest).IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	lost := "/v2/shop/api/manifests/" + listed.Manifests[1].Digest.String()
	if status, _ := ask(t, http.MethodDelete, server.URL+lost, ""); status != http.StatusAccepted {
		t.Errorf("deleting: %d", status)
	}
	server.Close()

	server, host = serve(t, dir)
	if status, body := ask(t, http.MethodGet, server.URL+lost, ""); status != 404 || !strings.Contains(body, "MANIFEST_UNKNOWN") {
		t.Errorf("%d %s", status, body)
	}
	if _, err := pull(t, host+"/shop/api@"+digest).IndexManifest(); err != nil {
		t.Error(err)
	}
}

func ask(t *testing.T, method, address, body string) (status int, answer string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(content)
}

func TestProtocol(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, host := serve(t, dir)
	digest := push(t, host, "1.4.0")
	push(t, host, "1.3.0")
	none := "sha256:" + strings.Repeat("0", 64)
	for name, test := range map[string]struct {
		method, path, body string
		status             int
		says               string
	}{
		"ping":                 {"GET", "/v2/", "", 200, ""},
		"tags":                 {"GET", "/v2/shop/api/tags/list", "", 200, `{"name":"shop/api","tags":["1.3.0","1.4.0"]}`},
		"tags of nothing":      {"GET", "/v2/shop/web/tags/list", "", 404, "MANIFEST_UNKNOWN"},
		"head":                 {"HEAD", "/v2/shop/api/manifests/" + digest, "", 200, ""},
		"unknown digest":       {"GET", "/v2/shop/api/manifests/" + none, "", 404, "MANIFEST_UNKNOWN"},
		"unknown tag":          {"GET", "/v2/shop/api/manifests/2.0.0", "", 404, "MANIFEST_UNKNOWN"},
		"delete what is not":   {"DELETE", "/v2/shop/api/manifests/2.0.0", "", 404, "MANIFEST_UNKNOWN"},
		"another digest":       {"PUT", "/v2/shop/api/manifests/" + none, "{}", 400, "DIGEST_INVALID"},
		"not JSON":             {"PUT", "/v2/shop/api/manifests/2.0.0", "{", 400, "MANIFEST_BLOB_UNKNOWN"},
		"index before images":  {"PUT", "/v2/shop/api/manifests/2.0.0", `{"manifests":[{"digest":"` + none + `"}]}`, 400, none},
		"too large":            {"PUT", "/v2/shop/api/manifests/2.0.0", strings.Repeat(" ", 5<<20), 413, "SIZE_INVALID"},
		"other method":         {"POST", "/v2/shop/api/manifests/2.0.0", "", 405, "UNSUPPORTED"},
		"name leading out":     {"GET", "/v2/../../x/manifests/1", "", 404, ""},
		"name of our own file": {"GET", "/v2/shop/api/_tags/manifests/1.4.0", "", 404, ""},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := ask(t, test.method, server.URL+test.path, test.body)
			if status != test.status || !strings.Contains(body, test.says) {
				t.Errorf("%d %s, want %d and %q", status, body, test.status, test.says)
			}
			if status >= 400 && test.says != "" && !json.Valid([]byte(body)) {
				t.Errorf("not JSON: %s", body)
			}
		})
	}
}
