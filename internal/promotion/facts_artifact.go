package promotion

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluicehq/sluice/internal/rollback"
)

// imagesKept is how long an answer of a registry is believed. One that could not be had is asked for again at once.
const imagesKept = 30 * time.Second

// imageAnswers keeps what registries said of images, by reference.
type imageAnswers struct {
	mu  sync.Mutex
	all map[string]imageAnswer
}

type imageAnswer struct {
	facts ImageFacts
	held  bool
	at    time.Time
}

func (a *imageAnswers) get(reference string, now time.Time) (imageAnswer, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	answer, ok := a.all[reference]
	return answer, ok && now.Sub(answer.at) < imagesKept
}

func (a *imageAnswers) put(reference string, answer imageAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for old, kept := range a.all {
		if answer.at.Sub(kept.at) >= imagesKept {
			delete(a.all, old)
		}
	}
	if a.all == nil {
		a.all = map[string]imageAnswer{}
	}
	a.all[reference] = answer
}

// askImage asks a registry for an image, and whether a tag of its release holds it there.
func (s *Service) askImage(ctx context.Context, reference string, tags []string) (imageAnswer, error) {
	if kept, ok := s.images.get(reference, s.Now()); ok {
		return kept, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.Patience.source())
	defer cancel()
	answer := imageAnswer{at: s.Now()}
	var err error
	if answer.facts, err = s.Registry.Image(ctx, reference); err != nil {
		return answer, err
	}
	if answer.facts.Present {
		if answer.held, err = s.Registry.Held(ctx, reference, tags); err != nil {
			return answer, err
		}
	}
	s.images.put(reference, answer)
	return answer, nil
}

// imageNow asks a registry for an image, and not for longer than it has patience with one source.
func (s *Service) imageNow(ctx context.Context, reference string) (ImageFacts, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Patience.source())
	defer cancel()
	return s.Registry.Image(ctx, reference)
}

// artifactFacts asks for every image of a candidate, at the repository that the environment pulls it from. Where there are
// several, what holds for the worst of them holds.
func (s *Service) artifactFacts(ctx context.Context, st goingBack, policy EnvironmentPolicy, needed []string, g *gathered) {
	chart := rollback.Unread
	if st.back != nil {
		chart = rollback.NotUsed // it is in the config repository, or nothing would have been rendered
	}
	var found foundImages
	for _, artifact := range st.candidate.Artifacts {
		reference := policy.PulledAs(artifact.Reference())
		if artifact.Digest == "" {
			found.unread++
			g.Unread = append(g.Unread, fmt.Sprintf("%s is named by a tag: which image that was then cannot be told", reference))
			continue
		}
		image, err := s.askImage(ctx, reference, tagsOf(st.candidate, artifact))
		if err != nil {
			found.unread++
			g.Unread = append(g.Unread, fmt.Sprintf("the registry could not be asked for %s: %v", reference, err))
			continue
		}
		found.add(image.facts)
		g.imageNotes(reference, image)
	}
	if len(st.candidate.Artifacts) == 0 {
		found.unread++
		g.Unread = append(g.Unread, "no image of the release is known")
	}
	g.Artifact = found.artifact()
	g.Artifact.NeededPlatforms, g.Artifact.Chart = needed, chart
}

// foundImages is what several images have in common.
type foundImages struct {
	read, unread, absent, missing int
	platforms                     []string // of all that were read
}

func (f *foundImages) add(image ImageFacts) {
	if !image.Present {
		f.absent++
		return
	}
	platforms := slices.Clone(image.Platforms)
	for _, p := range image.Platforms {
		if strings.HasSuffix(p, "/arm64/v8") { // every arm64 node is one
			platforms = append(platforms, strings.TrimSuffix(p, "/v8"))
		}
	}
	if f.read > 0 {
		platforms = slices.DeleteFunc(platforms, func(p string) bool { return !slices.Contains(f.platforms, p) })
	}
	f.platforms = append([]string{}, distinct(platforms)...)
	f.missing += len(image.MissingBlobs)
	f.read++
}

// artifact says no where any image does, and else unread where any is: no verdict may hide the one behind the other.
func (f *foundImages) artifact() rollback.Artifact {
	missing := f.missing
	switch {
	case f.absent > 0:
		return rollback.Artifact{ImageManifest: rollback.Absent}
	case f.unread > 0 && f.missing > 0:
		return rollback.Artifact{ImageManifest: rollback.Present, MissingLayers: &missing}
	case f.unread > 0:
		return rollback.Artifact{ImageManifest: rollback.Unread}
	}
	return rollback.Artifact{ImageManifest: rollback.Present, MissingLayers: &missing, ImagePlatforms: f.platforms}
}

func tagsOf(r Release, a Artifact) []string {
	tags := append([]string{r.Version}, r.Aliases...)
	if a.Tag != "" {
		tags = append(tags, a.Tag)
	}
	return slices.DeleteFunc(distinct(tags), func(tag string) bool { return tag == "" || strings.ContainsAny(tag, "/+ ") })
}

func (g *gathered) imageNotes(reference string, image imageAnswer) {
	switch {
	case !image.facts.Present:
		g.Notes = append(g.Notes, fmt.Sprintf("the registry does not have %s", reference))
	case len(image.facts.MissingBlobs) > 0:
		g.Notes = append(g.Notes, fmt.Sprintf("the registry lacks %s of %s", strings.Join(image.facts.MissingBlobs, ", "), reference))
	case !image.held:
		g.Notes = append(g.Notes, fmt.Sprintf("no tag of the release leads to %s: a clean-up of untagged images in the registry would delete it", reference))
	}
}
