package registry

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/sluicehq/sluice/internal/promotion"
)

var _ promotion.Registry = (*Client)(nil)

// Image is Check in the domain's words.
func (c *Client) Image(ctx context.Context, reference string) (promotion.ImageFacts, error) {
	artifact, err := c.Check(ctx, reference)
	if err != nil {
		return promotion.ImageFacts{}, err
	}
	facts := promotion.ImageFacts{Present: artifact.Present, MissingBlobs: artifact.MissingBlobs, Platforms: artifact.Platforms}
	for _, child := range artifact.Children {
		facts.Manifests = append(facts.Manifests, promotion.PlatformManifest(child))
	}
	return facts, nil
}

// Held implements promotion.Registry. A tag that is not there is no error.
func (c *Client) Held(ctx context.Context, reference string, tags []string) (bool, error) {
	ref, err := name.NewDigest(reference, c.nameOptions(reference)...)
	if err != nil {
		return false, fmt.Errorf("not a reference by digest (repository@sha256:…): %q", reference)
	}
	for _, tag := range tags {
		digest, err := c.Resolve(ctx, promotion.RepositoryOf(reference), tag)
		switch {
		case errors.Is(err, promotion.ErrNotFound):
		case err != nil:
			return false, err
		case digest == ref.DigestStr():
			return true, nil
		}
	}
	return false, nil
}
