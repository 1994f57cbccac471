package demoregistry

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// PushOption changes an image that PushImage makes.
type PushOption func(*image)

// WithRevision sets the source commit that the image says it was built from. By
// default it follows from repository and version.
func WithRevision(commit string) PushOption { return func(i *image) { i.revision = commit } }

// WithSalt makes an image that differs from the one without, or with another salt, as
// a rebuild under the same version does.
func WithSalt(salt string) PushOption { return func(i *image) { i.salt = salt } }

// image is what the content of an image follows from, and nothing else does.
type image struct {
	repository, version, revision, salt string
}

// PushImage makes a small image of one version for each platform
// (os/architecture[/variant]) and pushes it to host, tagged with the version. The
// digest is the index's; the same arguments give the same one, on every machine and
// at any time.
func PushImage(ctx context.Context, host, repository, version string, platforms []string, opts ...PushOption) (digest string, err error) {
	sum := sha256.Sum256([]byte(repository + ":" + version))
	img := image{repository: repository, version: version, revision: hex.EncodeToString(sum[:20])}
	for _, opt := range opts {
		opt(&img)
	}
	tag, err := name.NewTag(host + "/" + repository + ":" + version)
	if err != nil {
		return "", fmt.Errorf("pushing %s %s: %w", repository, version, err)
	}
	index, err := img.index(platforms)
	if err != nil {
		return "", fmt.Errorf("making %s %s: %w", repository, version, err)
	}
	if err := remote.WriteIndex(tag, index, remote.WithContext(ctx), remote.WithRetryBackoff(remote.Backoff{Steps: 1})); err != nil {
		return "", fmt.Errorf("pushing %s %s: %w", repository, version, err)
	}
	hash, err := index.Digest()
	return hash.String(), err
}

func (i image) index(platforms []string) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, text := range platforms {
		platform, err := v1.ParsePlatform(text)
		if err != nil {
			return nil, err
		}
		made, err := i.forPlatform(*platform)
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: made, Descriptor: v1.Descriptor{Platform: platform}})
	}
	return index, nil
}

// forPlatform is an image of one layer, each platform's different. It is not
// compressed: what a compressor makes of it may change with the Go version, and the
// digest with it.
func (i image) forPlatform(platform v1.Platform) (v1.Image, error) {
	layer, err := i.layer(platform)
	if err != nil {
		return nil, err
	}
	made := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	made, err = mutate.AppendLayers(made, static.NewLayer(layer, types.OCIUncompressedLayer))
	if err != nil {
		return nil, err
	}
	config, err := made.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Variant = platform.OS, platform.Architecture, platform.Variant
	config.Created = v1.Time{Time: epoch()}
	config.Config.Entrypoint = []string{"/app"}
	config.Config.Labels = map[string]string{
		"org.opencontainers.image.title":    i.repository,
		"org.opencontainers.image.version":  i.version,
		"org.opencontainers.image.revision": i.revision,
	}
	return mutate.ConfigFile(made, config)
}

// layer is a tar of one text file.
func (i image) layer(platform v1.Platform) ([]byte, error) {
	text := fmt.Appendf(nil, "%s %s for %s\nbuilt from %s\n", i.repository, i.version, platform, i.revision)
	if i.salt != "" {
		text = fmt.Appendf(text, "salt %s\n", i.salt)
	}
	var packed bytes.Buffer
	archive := tar.NewWriter(&packed)
	header := &tar.Header{Name: "app", Mode: 0o755, Size: int64(len(text)), ModTime: epoch(), Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
	if err := archive.WriteHeader(header); err != nil {
		return nil, err
	}
	if _, err := archive.Write(text); err != nil {
		return nil, err
	}
	err := archive.Close()
	return packed.Bytes(), err
}

// epoch is when every image says it was made, so that its digest does not depend on the clock.
func epoch() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }
