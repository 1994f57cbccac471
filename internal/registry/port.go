package registry

import (
	"context"

	"github.com/sluicehq/sluice/internal/promotion"
)

var _ promotion.Registry = (*Client)(nil)

// Image is Check in the domain's words.
func (c *Client) Image(ctx context.Context, reference string) (promotion.ImageFacts, error) {
	artifact, err := c.Check(ctx, reference)
	if err != nil {
		return promotion.ImageFacts{}, err
	}
	facts := promotion.ImageFacts{Present: artifact.Present, MissingBlobs: artifact.MissingBlobs}
	for _, child := range artifact.Children {
		facts.Manifests = append(facts.Manifests, promotion.PlatformManifest(child))
	}
	return facts, nil
}
