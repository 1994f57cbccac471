package manifest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// placeSearch looks for the values that set one image.
type placeSearch struct {
	helmEdit
	goal     goal
	open     []int              // images that no value is known to set when a round starts
	by       map[int]imagePlace // what sets the others
	settings []setting
	unused   []string // places that the chart does not use
	refusals []*Refusal
}

func (s *placeSearch) left() []int {
	return slices.DeleteFunc(slices.Clone(s.open), func(i int) bool { _, found := s.by[i]; return found })
}

// through tries places. Each is set to a digest that nothing has, so that the rendering shows which images follow.
func (s *placeSearch) through(places []imagePlace) error {
	for _, p := range places {
		if !p.mayBe(s.goal.name) {
			continue
		}
		follow, way, err := s.probe(p)
		var refused *Refusal
		switch {
		case errors.As(err, &refused):
			s.refusals = append(s.refusals, refused)
			continue
		case err != nil:
			return err
		case len(follow) == 0:
			s.unused = append(s.unused, p.String())
			continue
		}
		taken, err := s.take(p, follow)
		if err != nil {
			return err
		}
		ways, err := p.ways(s.goal.name, s.tag(), s.goal.target)
		if err != nil {
			return refuse(UnintendedChange, s.dir, 0, "%v", err)
		}
		if taken {
			s.settings = append(s.settings, ways[way]...)
		}
	}
	return nil
}

// take notes which images follow a place. One whose images are all set by declared places is left alone.
func (s *placeSearch) take(p imagePlace, follow []int) (bool, error) {
	taken := false
	for _, i := range follow {
		image := s.images[i]
		other, twice := s.by[i]
		switch {
		case splitReference(image.Reference).repository != s.goal.name:
			return false, refuse(AmbiguousImage, s.dir, 0, "the value %s for %s also sets %s in %s %s",
				p, s.goal.name, image.Reference, image.Object, image.Path)
		case twice && slices.Contains(s.open, i):
			return false, refuse(AmbiguousImage, s.dir, 0, "the values %s and %s both set %s in %s %s: say which with helm.images in %s",
				other, p, image.Reference, image.Object, image.Path, s.policy)
		case !twice:
			s.by[i], taken = p, true
		}
	}
	return taken, nil
}

// tag is what the image renders with now.
func (s *placeSearch) tag() string {
	for _, image := range s.images {
		if is := splitReference(image.Reference); is.repository == s.goal.name {
			return is.tag
		}
	}
	return ""
}

// probe finds the first way of writing a place that the chart's templates understand, and the images that follow it.
func (s *placeSearch) probe(p imagePlace) (follow []int, way int, err error) {
	marker := reference{repository: s.goal.name, digest: "sha256:" + s.before.Hash()}
	ways, err := p.ways(s.goal.name, s.tag(), marker)
	if err != nil {
		return nil, 0, err
	}
	var failed error
	for way, settings := range ways {
		follow, err := s.try(settings, marker)
		switch {
		case err != nil && failed == nil:
			failed = err
		case err == nil && len(follow) > 0:
			return follow, way, nil
		}
	}
	return nil, 0, failed
}

func (s *placeSearch) try(settings []setting, marker reference) ([]int, error) {
	edited, err := s.write(settings)
	if err != nil {
		return nil, err
	}
	after, err := s.render(edited)
	if err != nil {
		return nil, err
	}
	references, err := s.moved(after)
	if err != nil {
		return nil, err
	}
	var follow []int
	for i, is := range references {
		if is.digest == marker.digest {
			follow = append(follow, i)
		}
	}
	return follow, nil
}

// failed says why an image cannot be set.
func (s *placeSearch) failed() error {
	if err := first(s.refusals); err != nil {
		return err
	}
	image := s.images[s.open[0]]
	message := fmt.Sprintf("no value that this folder may set decides %s in %s %s", image.Reference, image.Object, image.Path)
	if len(s.unused) > 0 {
		message += fmt.Sprintf("; the chart's template does not use %s", strings.Join(s.unused, " or "))
	}
	return refuse(PathNotFound, s.dir, 0, "%s: say where it is with helm.images in %s, or let the template take it from values",
		message, s.policy)
}
