package registry

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/sync/errgroup"
)

// Artifact is what a registry holds of one repository@digest.
type Artifact struct {
	Digest    string // sha256:…, as asked for
	MediaType string // of its manifest
	Present   bool   // the manifest is there; if not, nothing below is known
	IsIndex   bool
	// Platforms that it can be pulled for, as os/architecture[/variant], sorted: of
	// an index those whose manifest is there.
	Platforms []string
	// Children are the platforms' manifests that an index lists, there or not.
	// Attestations, which no platform runs, are neither listed nor looked for.
	Children []Child
	// MissingBlobs are the digests, sorted, of what it needs and the registry
	// does not hold: layers, configurations and platforms' manifests.
	MissingBlobs []string
}

// Child is one platform's manifest of an index.
type Child struct {
	Digest   string
	Platform string // empty if neither the index nor a configuration says it
}

const (
	// atOnce is how many questions a registry is asked at the same time.
	atOnce = 8
	// maxDepth bounds indexes within indexes.
	maxDepth = 4
)

// Check asks for an artifact (repository@sha256:…) and all that it is made of, of
// every platform. An artifact that is not there is an answer, with Present false.
func (c *Client) Check(ctx context.Context, reference string) (Artifact, error) {
	ref, err := name.NewDigest(reference, c.nameOptions(reference)...)
	if err != nil {
		return Artifact{}, fmt.Errorf("not a reference by digest (repository@sha256:…): %q", reference)
	}
	puller, err := remote.NewPuller(c.options...)
	if err != nil {
		return Artifact{}, err
	}
	found := &inventory{puller: puller, repo: ref.Context(), blobs: map[v1.Hash]bool{}}
	manifest, err := puller.Get(ctx, ref)
	if isAbsent(err) {
		return Artifact{Digest: ref.DigestStr()}, nil
	}
	if err != nil {
		return Artifact{}, failure(ctx, ref.Context(), "reading manifest "+ref.DigestStr(), err)
	}
	artifact := Artifact{
		Digest: ref.DigestStr(), MediaType: string(manifest.MediaType), Present: true, IsIndex: manifest.MediaType.IsIndex(),
	}
	if artifact.IsIndex {
		err = found.index(ctx, manifest, 1)
	} else {
		_, err = found.image(ctx, manifest, "")
	}
	if err == nil {
		err = found.askForBlobs(ctx)
	}
	if err != nil {
		return Artifact{}, err
	}
	artifact.Children = found.children
	artifact.Platforms = sorted(found.platforms)
	artifact.MissingBlobs = sorted(found.missing)
	return artifact, nil
}

// inventory is what was found so far of one artifact.
type inventory struct {
	puller    *remote.Puller
	repo      name.Repository
	children  []Child
	platforms []string
	blobs     map[v1.Hash]bool // to be asked for
	mu        sync.Mutex       // guards missing
	missing   []string
}

// index takes stock of the manifests that an index lists.
func (f *inventory) index(ctx context.Context, of *remote.Descriptor, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("reading index %s in %s: more than %d indexes within each other", of.Digest, f.repo.Name(), maxDepth)
	}
	parsed, err := v1.ParseIndexManifest(bytes.NewReader(of.Manifest))
	if err != nil {
		return fmt.Errorf("reading index %s in %s: %w", of.Digest, f.repo.Name(), err)
	}
	for _, listed := range parsed.Manifests {
		switch {
		case isAttestation(listed):
		case listed.MediaType.IsIndex(), listed.MediaType.IsImage():
			if err := f.listed(ctx, listed, depth); err != nil {
				return err
			}
		default:
			f.blobs[listed.Digest] = true
		}
	}
	return nil
}

// listed takes stock of one manifest that an index lists.
func (f *inventory) listed(ctx context.Context, listed v1.Descriptor, depth int) error {
	child := Child{Digest: listed.Digest.String(), Platform: platformOf(listed.Platform)}
	manifest, err := f.puller.Get(ctx, f.repo.Digest(child.Digest))
	switch {
	case isAbsent(err):
		f.missing = append(f.missing, child.Digest)
	case err != nil:
		return failure(ctx, f.repo, "reading manifest "+child.Digest, err)
	case listed.MediaType.IsIndex():
		return f.index(ctx, manifest, depth+1)
	default:
		if child.Platform, err = f.image(ctx, manifest, child.Platform); err != nil {
			return err
		}
	}
	f.children = append(f.children, child)
	return nil
}

// isAttestation tells what a build tool lists beside the images: by BuildKit's
// convention its platform is unknown/unknown.
func isAttestation(listed v1.Descriptor) bool {
	p := listed.Platform
	return p != nil && p.OS == "unknown" && p.Architecture == "unknown"
}

// image takes stock of one manifest's blobs and returns its platform: what an
// index says of it, or else what its configuration says.
func (f *inventory) image(ctx context.Context, of *remote.Descriptor, platform string) (string, error) {
	parsed, err := v1.ParseManifest(bytes.NewReader(of.Manifest))
	if err != nil {
		return "", fmt.Errorf("reading manifest %s in %s: %w", of.Digest, f.repo.Name(), err)
	}
	if parsed.Config.Digest.Hex == "" {
		return "", fmt.Errorf("reading manifest %s in %s: media type %q is not supported", of.Digest, f.repo.Name(), of.MediaType)
	}
	f.blobs[parsed.Config.Digest] = true
	for _, layer := range parsed.Layers {
		// Some base layers must not be copied: no registry but their owner's holds them.
		if layer.MediaType.IsDistributable() {
			f.blobs[layer.Digest] = true
		}
	}
	if platform == "" && isImageConfig(parsed.Config.MediaType) {
		if platform, err = f.platform(ctx, of); err != nil {
			return "", err
		}
	}
	if platform != "" {
		f.platforms = append(f.platforms, platform)
	}
	return platform, nil
}

// platform reads a single image's configuration, empty if that is not there:
// the look for blobs will name it.
func (f *inventory) platform(ctx context.Context, of *remote.Descriptor) (string, error) {
	image, err := of.Image()
	if err != nil {
		return "", failure(ctx, f.repo, "reading manifest "+of.Digest.String(), err)
	}
	config, err := image.ConfigFile()
	if isNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", failure(ctx, f.repo, "reading the configuration of "+of.Digest.String(), err)
	}
	return platformOf(config.Platform()), nil
}

// askForBlobs asks for each blob's existence.
func (f *inventory) askForBlobs(ctx context.Context) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for digest := range f.blobs {
		group.Go(func() error {
			layer, err := f.puller.Layer(groupCtx, f.repo.Digest(digest.String()))
			if err != nil {
				return failure(ctx, f.repo, "asking for blob "+digest.String(), err)
			}
			exists, err := partial.Exists(layer)
			if err != nil {
				return failure(ctx, f.repo, "asking for blob "+digest.String(), err)
			}
			if !exists {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.missing = append(f.missing, digest.String())
			}
			return nil
		})
	}
	return group.Wait()
}

func isImageConfig(mediaType types.MediaType) bool {
	return mediaType == types.OCIConfigJSON || mediaType == types.DockerConfigJSON
}

// platformOf is os/architecture[/variant], empty if it is not known.
func platformOf(p *v1.Platform) string {
	if p == nil || p.OS == "" || p.Architecture == "" {
		return ""
	}
	text := p.OS + "/" + p.Architecture
	if p.Variant != "" {
		text += "/" + p.Variant
	}
	return text
}

func sorted(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
