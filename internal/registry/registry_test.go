package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/registry"
	"github.com/sluicehq/sluice/internal/registry/demoregistry"
)

// serve runs a real registry that is kept on disk.
func serve(t *testing.T) (server *httptest.Server, host string) {
	t.Helper()
	handler, err := demoregistry.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	server = httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server, strings.TrimPrefix(server.URL, "http://")
}

// push pushes shop/api 1.4.0 for two platforms and returns its reference by digest.
func push(t *testing.T, host string) string {
	t.Helper()
	digest, err := demoregistry.PushImage(t.Context(), host, "shop/api", "1.4.0", []string{"linux/amd64", "linux/arm64"})
	if err != nil {
		t.Fatal(err)
	}
	return host + "/shop/api@" + digest
}

func client(t *testing.T) *registry.Client {
	t.Helper()
	return registry.New(registry.Options{Keychain: anonymous{}, UserAgent: "sluice/test"})
}

type anonymous struct{}

func (anonymous) Resolve(authn.Resource) (authn.Authenticator, error) { return authn.Anonymous, nil }

func check(t *testing.T, reference string) registry.Artifact {
	t.Helper()
	artifact, err := client(t).Check(t.Context(), reference)
	if err != nil {
		t.Fatal(err)
	}
	return artifact
}

// manifest reads a manifest as it is.
func manifest(t *testing.T, reference string, into any) {
	t.Helper()
	ref, err := name.NewDigest(reference)
	if err != nil {
		t.Fatal(err)
	}
	got, err := remote.Get(ref, remote.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got.Manifest, into); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, address string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusAccepted {
		t.Fatal(response.Status, err)
	}
}

func TestCheckIndex(t *testing.T) {
	t.Parallel()
	_, host := serve(t)
	reference := push(t, host)
	artifact := check(t, reference)

	var index v1.IndexManifest
	manifest(t, reference, &index)
	want := registry.Artifact{
		Digest: reference[strings.Index(reference, "@")+1:], MediaType: string(types.OCIImageIndex), Present: true, IsIndex: true,
		Platforms: []string{"linux/amd64", "linux/arm64"},
		Children: []registry.Child{
			{Digest: index.Manifests[0].Digest.String(), Platform: "linux/amd64"},
			{Digest: index.Manifests[1].Digest.String(), Platform: "linux/arm64"},
		},
	}
	if diff := cmp.Diff(want, artifact); diff != "" {
		t.Error(diff)
	}
	// A tag beside the digest is what people copy; the digest is what counts.
	tagged := strings.Replace(reference, "@", ":1.4.0@", 1)
	if diff := cmp.Diff(want, check(t, tagged)); diff != "" {
		t.Error(diff)
	}
}

func TestCheckSingleImage(t *testing.T) {
	t.Parallel()
	_, host := serve(t)
	var index v1.IndexManifest
	reference := push(t, host)
	manifest(t, reference, &index)
	arm := index.Manifests[1].Digest.String()
	want := registry.Artifact{Digest: arm, MediaType: string(types.OCIManifestSchema1), Present: true, Platforms: []string{"linux/arm64"}}
	if diff := cmp.Diff(want, check(t, host+"/shop/api@"+arm)); diff != "" {
		t.Error(diff)
	}
}

func TestCheckNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"layer", "config", "platform", "single config"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			server, host := serve(t)
			reference := push(t, host)
			var index v1.IndexManifest
			manifest(t, reference, &index)
			arm := index.Manifests[1].Digest
			var image v1.Manifest
			manifest(t, host+"/shop/api@"+arm.String(), &image)

			gone, path, platforms := arm, "/manifests/", []string{"linux/amd64"}
			switch what {
			case "layer":
				gone, path, platforms = image.Layers[0].Digest, "/blobs/", []string{"linux/amd64", "linux/arm64"}
			case "config":
				gone, path, platforms = image.Config.Digest, "/blobs/", []string{"linux/amd64", "linux/arm64"}
			case "single config":
				gone, path, platforms = image.Config.Digest, "/blobs/", nil
				reference = host + "/shop/api@" + arm.String()
			}
			remove(t, server.URL+"/v2/shop/api"+path+gone.String())

			artifact := check(t, reference)
			if !artifact.Present {
				t.Error("the manifest itself is still there")
			}
			if diff := cmp.Diff([]string{gone.String()}, artifact.MissingBlobs); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(platforms, artifact.Platforms); diff != "" {
				t.Error(diff)
			}
			if artifact.IsIndex && !slices.Contains(artifact.Children, registry.Child{Digest: arm.String(), Platform: "linux/arm64"}) {
				t.Errorf("the platform that was lost is not named: %v", artifact.Children)
			}
		})
	}
}

func TestCheckAbsent(t *testing.T) {
	t.Parallel()
	_, host := serve(t)
	reference := push(t, host)
	unknown := "sha256:" + strings.Repeat("0", 64)
	for _, absent := range []string{host + "/shop/api@" + unknown, host + "/shop/web@" + reference[strings.Index(reference, "@")+1:]} {
		artifact := check(t, absent)
		if artifact.Present || artifact.Digest == "" {
			t.Errorf("%s: %+v", absent, artifact)
		}
	}
}

// TestCheckOddIndex: an index within an index, an image whose platform only its
// configuration says, an attestation, and a layer that no registry but its owner's holds.
func TestCheckOddIndex(t *testing.T) {
	t.Parallel()
	_, host := serve(t)
	windows := imageFor(t, v1.Platform{OS: "windows", Architecture: "amd64"})
	foreign, err := random.Layer(10, types.DockerForeignLayer)
	if err != nil {
		t.Fatal(err)
	}
	if windows, err = mutate.AppendLayers(windows, foreign); err != nil {
		t.Fatal(err)
	}
	inner := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: windows})
	arm, unknown := v1.Platform{OS: "linux", Architecture: "arm", Variant: "v7"}, v1.Platform{OS: "unknown", Architecture: "unknown"}
	outer := mutate.AppendManifests(empty.Index,
		mutate.IndexAddendum{Add: inner},
		mutate.IndexAddendum{Add: imageFor(t, arm), Descriptor: v1.Descriptor{Platform: &arm}},
		mutate.IndexAddendum{Add: imageFor(t, unknown), Descriptor: v1.Descriptor{Platform: &unknown}},
	)
	artifact := check(t, write(t, host, outer))
	if diff := cmp.Diff([]string{"linux/arm/v7", "windows/amd64"}, artifact.Platforms); diff != "" {
		t.Error(diff)
	}
	if len(artifact.Children) != 2 || len(artifact.MissingBlobs) != 0 {
		t.Errorf("children %v, missing %v", artifact.Children, artifact.MissingBlobs)
	}
}

func TestCheckDeepIndex(t *testing.T) {
	t.Parallel()
	_, host := serve(t)
	index := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: imageFor(t, v1.Platform{OS: "linux", Architecture: "amd64"})})
	for range 4 {
		index = mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: index})
	}
	if artifact, err := client(t).Check(t.Context(), write(t, host, index)); err == nil {
		t.Errorf("%+v, want an error: what is deeper was not looked at", artifact)
	}
}

func imageFor(t *testing.T, platform v1.Platform) v1.Image {
	t.Helper()
	image, err := random.Image(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Variant = platform.OS, platform.Architecture, platform.Variant
	if image, err = mutate.ConfigFile(image, config); err != nil {
		t.Fatal(err)
	}
	return image
}

func write(t *testing.T, host string, index v1.ImageIndex) string {
	t.Helper()
	tag, err := name.NewTag(host + "/odd:1")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.WriteIndex(tag, index, remote.WithContext(t.Context())); err != nil {
		t.Fatal(err)
	}
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return host + "/odd@" + digest.String()
}

func TestResolve(t *testing.T) {
	t.Parallel()
	_, host := serve(t)
	reference := push(t, host)
	digest, err := client(t).Resolve(t.Context(), host+"/shop/api", "1.4.0")
	if err != nil || host+"/shop/api@"+digest != reference {
		t.Errorf("%s, %v; want %s", digest, err, reference)
	}
	if digest, err := client(t).Resolve(t.Context(), host+"/shop/api", "1.5.0"); !errors.Is(err, promotion.ErrNotFound) {
		t.Errorf("an absent tag: %q, %v; want ErrNotFound", digest, err)
	}
}

func TestImage(t *testing.T) {
	t.Parallel()
	_, host := serve(t)
	reference := push(t, host)
	artifact := check(t, reference)
	facts, err := client(t).Image(t.Context(), reference)
	if err != nil {
		t.Fatal(err)
	}
	want := promotion.ImageFacts{Present: true, Manifests: []promotion.PlatformManifest{
		{Digest: artifact.Children[0].Digest, Platform: "linux/amd64"}, {Digest: artifact.Children[1].Digest, Platform: "linux/arm64"},
	}, Platforms: []string{"linux/amd64", "linux/arm64"}}
	if diff := cmp.Diff(want, facts); diff != "" {
		t.Error(diff)
	}
}

func TestBadReference(t *testing.T) {
	t.Parallel()
	for _, reference := range []string{"", "shop/api", "shop/api:1.4.0", "shop/api@sha256:short", "Shop/API@sha256:" + strings.Repeat("0", 64)} {
		if artifact, err := client(t).Check(context.Background(), reference); err == nil {
			t.Errorf("%q: %+v", reference, artifact)
		}
	}
	if digest, err := client(t).Resolve(context.Background(), "shop/api", "a tag"); err == nil {
		t.Error(digest)
	}
	if digest, err := client(t).Resolve(context.Background(), "shop/api@sha256:"+strings.Repeat("0", 64), "1"); err == nil {
		t.Error(digest)
	}
}

func TestStoppedRegistry(t *testing.T) {
	t.Parallel()
	server, host := serve(t)
	reference := push(t, host)
	server.Close()
	if artifact, err := client(t).Check(t.Context(), reference); err == nil {
		t.Errorf("%+v, want an error", artifact)
	}
	if digest, err := client(t).Resolve(t.Context(), host+"/shop/api", "1.4.0"); err == nil || errors.Is(err, promotion.ErrNotFound) {
		t.Errorf("%q, %v; want an error that is not ErrNotFound", digest, err)
	}
}

func TestSlowRegistry(t *testing.T) {
	t.Parallel()
	answer := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-answer:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(answer) })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := client(t).Check(ctx, strings.TrimPrefix(server.URL, "http://")+"/shop/api@sha256:"+strings.Repeat("0", 64))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want DeadlineExceeded", err)
	}
}
