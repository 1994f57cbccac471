package registry

import (
	"context"
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// versionLabel holds an image's version, by the OCI image specification's name for the annotation.
const versionLabel = "org.opencontainers.image.version"

// Version is what an image's configuration states as its version, empty when it
// states none. Of an index it is the linux/amd64 image's.
func (c *Client) Version(ctx context.Context, reference string) (string, error) {
	ref, err := name.NewDigest(reference, c.nameOptions(reference)...)
	if err != nil {
		return "", fmt.Errorf("not a reference by digest (repository@sha256:…): %q", reference)
	}
	image, err := remote.Image(ref, append(c.options[:len(c.options):len(c.options)], remote.WithContext(ctx))...)
	if err != nil {
		return "", failure(ctx, ref.Context(), "reading manifest "+ref.DigestStr(), err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		return "", failure(ctx, ref.Context(), "reading the configuration of "+ref.DigestStr(), err)
	}
	return config.Config.Labels[versionLabel], nil
}
