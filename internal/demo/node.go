package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/simulation"
)

// Images are the registry's answers to a node that pulls.
type Images interface {
	promotion.Registry
	Resolve(ctx context.Context, repository, tag string) (digest string, err error)
	// Version is the image's label org.opencontainers.image.version.
	Version(ctx context.Context, reference string) (string, error)
}

// platform of the simulated nodes.
const platform = "linux/amd64"

// node pulls images as a kubelet does, from the real registry. What was pulled is kept.
type node struct {
	images Images
	mu     sync.Mutex
	known  map[string]simulation.Image
}

func (n *node) pull(ctx context.Context, image string) (simulation.Image, error) {
	n.mu.Lock()
	pulled, ok := n.known[image]
	n.mu.Unlock()
	if ok {
		return pulled, nil
	}
	pulled, err := n.fetch(ctx, image)
	if err != nil {
		return pulled, fmt.Errorf("failed to pull and unpack image %q: %w", image, err)
	}
	n.mu.Lock()
	n.known[image] = pulled
	n.mu.Unlock()
	return pulled, nil
}

func (n *node) fetch(ctx context.Context, image string) (simulation.Image, error) {
	repository := promotion.RepositoryOf(image)
	reference := image
	if !strings.Contains(image, "@") {
		tag := strings.TrimPrefix(strings.TrimPrefix(image, repository), ":")
		digest, err := n.images.Resolve(ctx, repository, tag)
		if err != nil {
			return simulation.Image{}, err
		}
		reference = repository + "@" + digest
	}
	facts, err := n.images.Image(ctx, reference)
	if err != nil {
		return simulation.Image{}, err
	}
	if !facts.Present || len(facts.MissingBlobs) > 0 {
		return simulation.Image{}, errors.New("not found")
	}
	version, err := n.images.Version(ctx, reference)
	if err != nil {
		return simulation.Image{}, err
	}
	pulled := simulation.Image{ID: reference, Crashes: strings.Contains(version, "crash")}
	for _, m := range facts.Manifests {
		if m.Platform == platform {
			pulled.ID = repository + "@" + m.Digest
		}
	}
	return pulled, nil
}
