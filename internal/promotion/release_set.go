package promotion

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// use is an application that uses images of a build.
type use struct {
	newest Release
	images []string // repositories that main renders for it
	charts ChartsKnown
}

// of tells whether the application uses a repository's image. What its newest release has counts too: main may be about to
// have it again.
func (u use) of(repository string) bool {
	return slices.Contains(u.images, repository) || u.newest.uses(repository)
}

// applicationsOf finds the applications that use the posted images. Every image must belong to one.
func (s *Service) applicationsOf(ctx context.Context, tx Tx, b Build, application string) ([]use, error) {
	repositories := make([]string, len(b.Artifacts))
	for i, a := range b.Artifacts {
		repositories[i] = a.Repository
	}
	newest, err := tx.ApplicationsUsing(ctx, repositories)
	if err != nil {
		return nil, err
	}
	if application != "" {
		id, err := tx.ApplicationID(ctx, application)
		if errors.Is(err, ErrNotFound) {
			return nil, invalid("unknown-application", "application",
				"application %q is not in any config repository: it needs apps/%s/overlays/<environment> on main", application, application)
		} else if err != nil {
			return nil, err
		}
		newest = slices.DeleteFunc(newest, func(r Release) bool { return r.Application != application })
		if len(b.Artifacts) == 0 {
			r, err := tx.NewestRelease(ctx, id, "")
			if errors.Is(err, ErrNotFound) {
				return nil, invalid("no-release", "application", "%s has no release yet that a chart could be added to: post its images first", application)
			} else if err != nil {
				return nil, err
			}
			newest = []Release{r}
		}
	}
	slices.SortFunc(newest, func(a, b Release) int { return int(a.ApplicationID - b.ApplicationID) })
	var uses []use
	for _, r := range newest {
		images, err := tx.ImagesOf(ctx, r.ApplicationID)
		if err != nil {
			return nil, fmt.Errorf("read which images %s uses: %w", r.Application, err)
		}
		charts, err := tx.ChartsOf(ctx, r.ApplicationID)
		if err != nil {
			return nil, fmt.Errorf("read which charts %s pins: %w", r.Application, err)
		}
		if u := (use{r, images, charts}); u.takes(b) {
			uses = append(uses, u)
		}
	}
	for i, a := range b.Artifacts {
		if !slices.ContainsFunc(uses, func(u use) bool { return u.of(a.Repository) }) {
			return nil, s.unusedArtifact(application, i, a)
		}
	}
	for i, c := range b.Charts {
		if !slices.ContainsFunc(uses, func(u use) bool { return u.pins(c.Name) }) {
			return nil, unpinnedChart(i, c, application)
		}
	}
	return uses, nil
}

func (s *Service) unusedArtifact(application string, i int, a BuildArtifact) error {
	field := fmt.Sprintf("artifacts[%d].repository", i)
	if application == "" {
		return invalid("unknown-application", field,
			"no application's manifests use %s: check the name, or add the application to the config repository first", a.Repository)
	}
	return invalid("unknown-artifact", field, "the manifests of %s do not use %s: check the repository's name", application, a.Repository)
}

func (r Release) uses(repository string) bool {
	return slices.ContainsFunc(r.Artifacts, func(a Artifact) bool { return a.Repository == repository })
}

// takes tells whether a build has something for the application: one of its images, or charts alone that it pins.
func (u use) takes(b Build) bool {
	if len(b.Artifacts) == 0 {
		return slices.ContainsFunc(b.Charts, func(c Chart) bool { return u.pins(c.Name) })
	}
	return slices.ContainsFunc(b.Artifacts, func(a BuildArtifact) bool { return u.of(a.Repository) })
}

// shares tells whether another build is this one, or has one of its images.
func (b Build) shares(other Build) bool {
	return other.ID == b.ID || slices.ContainsFunc(other.Artifacts, func(a BuildArtifact) bool {
		return slices.ContainsFunc(b.Artifacts, func(own BuildArtifact) bool { return own.Repository == a.Repository })
	})
}

// postedTogether collects the images and charts of the build's group so far and names the images that it still waits for. A build
// without a group stands alone. Of a group that several applications share, only the builds that count for one do.
func postedTogether(ctx context.Context, known Reader, b Build, counts func(Build) bool) (posted map[string]Artifact, charts map[string]ReleaseChart, missing []string, err error) {
	builds := []Build{b}
	if b.Group != "" {
		if builds, err = known.BuildsOfGroup(ctx, b.Group); err != nil {
			return nil, nil, nil, err
		}
	}
	posted, charts = map[string]Artifact{}, map[string]ReleaseChart{}
	var expects []string
	for _, g := range builds {
		if !counts(g) {
			continue
		}
		expects = append(expects, g.GroupExpects...)
		for _, a := range g.Artifacts {
			posted[a.Repository] = Artifact{Repository: a.Repository, Digest: a.Digest, BuildID: g.ID}
		}
		for _, c := range g.Charts {
			charts[c.Name] = ReleaseChart{Chart: c, BuildID: g.ID}
		}
	}
	return posted, charts, missingNames(expects, posted), nil
}

// missingNames lists the expected images not posted yet. An expected name is a
// repository or its last part.
func missingNames(expects []string, posted map[string]Artifact) []string {
	var missing []string
	for _, name := range expects {
		found := false
		for repository := range posted {
			found = found || repository == name || path.Base(repository) == name
		}
		if !found && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// assemble completes a set: what was posted, and the rest of what the application still uses carried forward.
func assemble(base Release, posted map[string]Artifact, u use) []Artifact {
	artifacts := make([]Artifact, 0, len(base.Artifacts))
	for _, a := range posted {
		if u.of(a.Repository) && !base.uses(a.Repository) {
			a.Name = path.Base(a.Repository)
			artifacts = append(artifacts, a)
		}
	}
	for _, old := range base.Artifacts {
		if a, ok := posted[old.Repository]; ok {
			a.Name = old.Name
			artifacts = append(artifacts, a)
			continue
		}
		if len(u.images) > 0 && !slices.Contains(u.images, old.Repository) {
			continue // main does not use it any more
		}
		if old.CarriedFrom == 0 {
			old.CarriedFrom = base.ID
		}
		artifacts = append(artifacts, old)
	}
	slices.SortFunc(artifacts, func(a, b Artifact) int { return strings.Compare(a.Name, b.Name) })
	return artifacts
}

// rebuilds tells whether a version was posted again with another digest of the same image. Another image of the version,
// posted by another CI job, is no rebuild.
func rebuilds(r, earlier Release) bool {
	for _, a := range r.Artifacts {
		for _, old := range earlier.Artifacts {
			if a.CarriedFrom == 0 && old.CarriedFrom == 0 && a.Repository == old.Repository && a.Digest != old.Digest {
				return true
			}
		}
	}
	return false
}
