package lint

import (
	"github.com/sluicehq/sluice/internal/argocd"
	"github.com/sluicehq/sluice/internal/manifest"
	"github.com/sluicehq/sluice/internal/promotion"
)

// repository is what rules look at: the files, and each target rendered.
type repository struct {
	input   Input
	files   *files
	targets []*target
	deploys map[applicationKey][]string // paths of the targets that an Application deploys
	leaks   []leak                      // secrets in plain text, in the tree and in its history

	users  map[string][]string           // paths of the targets that use a file
	stages map[string]map[objectKey]bool // objects rendered anywhere in an environment
	closes map[string][]string           // files reached from a folder
}

// target is one overlay and what it renders to.
type target struct {
	manifest.Target
	rendered     manifest.Rendered
	refusal      *manifest.Refusal // why it does not render; nil when it does
	applications []argocd.Linked
	files        []string // that it is made of, nearest first
}

// objectKey is an object's identity without its namespace, which an overlay may leave open.
type objectKey struct{ kind, name string }

// prepare links targets, files and Applications once all is rendered.
func (r *repository) prepare() {
	r.deploys, r.users, r.closes = map[applicationKey][]string{}, map[string][]string{}, map[string][]string{}
	r.stages = map[string]map[objectKey]bool{}
	links := r.input.links()
	for _, t := range r.targets {
		t.files = r.reach(t.Path, t.Layout)
		for _, name := range t.files {
			r.users[name] = append(r.users[name], t.Path)
		}
		t.applications = links[t.Path]
		for _, a := range t.applications {
			r.deploys[keyOf(a.Application)] = append(r.deploys[keyOf(a.Application)], t.Path)
		}
		stage := r.stages[t.Environment]
		if stage == nil {
			stage = map[objectKey]bool{}
			r.stages[t.Environment] = stage
		}
		for _, o := range t.rendered.Objects {
			stage[objectKey{o.Kind, o.Name}] = true
		}
		for key := range t.provides() {
			stage[key] = true
		}
	}
}

// rank of the target's environment, by policy or by its name.
func (r *repository) rank(t *target) int {
	if r.input.Policy != nil {
		if rank, said := r.input.Policy.Layout().Ranks[t.Environment]; said {
			return rank
		}
	}
	return manifest.Rank(t.Environment)
}

func (r *repository) isProd(t *target) bool { return r.rank(t) >= promotion.RankProd }

// policy that holds for the target.
func (r *repository) policy(t *target) promotion.EnvironmentPolicy {
	rank := r.rank(t)
	if r.input.Policy == nil {
		return promotion.DefaultPolicy(rank)
	}
	return r.input.Policy.For(promotion.Target{
		Application: t.Application, Environment: t.Environment, Rank: rank, Path: t.Path, Layout: string(t.Layout),
	})
}
