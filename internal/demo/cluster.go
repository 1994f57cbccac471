package demo

import (
	"context"
	"io/fs"
	"path"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/simulation"
)

// ClusterOptions say what the simulated cluster deploys.
type ClusterOptions struct {
	File          string
	Repository    promotion.ConfigRepository
	RepositoryURL string
	Manifests     Manifests
	Images        Images
	Now           func() time.Time
}

// Manifests finds and renders what the cluster applies.
type Manifests interface {
	Discover(tree fs.FS, layout promotion.Layout) ([]promotion.FoundTarget, error)
	Objects(tree fs.FS, path string) ([]*unstructured.Unstructured, error)
}

// NewCluster simulates a cluster in which every overlay of the repository is deployed by an Argo CD Application, as an
// ApplicationSet would: production is synced by hand, everything before it by itself.
func NewCluster(o ClusterOptions) (*simulation.Simulation, error) {
	c := &clusterSource{o}
	n := &node{images: o.Images, known: map[string]simulation.Image{}}
	return simulation.Open(simulation.Options{File: o.File, Head: o.Repository.Fetch, Render: c.render, Pull: n.pull,
		Applications: c.applications, Now: o.Now})
}

type clusterSource struct{ ClusterOptions }

func (c *clusterSource) render(ctx context.Context, revision, path string) ([]*unstructured.Unstructured, error) {
	tree, err := c.Repository.Tree(ctx, revision)
	if err != nil {
		return nil, err
	}
	return c.Manifests.Objects(tree, path)
}

func (c *clusterSource) applications(ctx context.Context) ([]simulation.Application, error) {
	head, err := c.Repository.Fetch(ctx)
	if err != nil || head == "" {
		return nil, err
	}
	tree, err := c.Repository.Tree(ctx, head)
	if err != nil {
		return nil, err
	}
	targets, err := c.Manifests.Discover(tree, promotion.Layout{Roots: []string{"apps"}})
	if err != nil {
		return nil, err
	}
	applications := make([]simulation.Application, len(targets))
	for i, t := range targets {
		chart := ""
		if t.Layout == "helm" {
			chart = path.Join(path.Dir(path.Dir(t.Path)), "chart")
		}
		applications[i] = simulation.Application{Name: t.Application + "-" + t.Environment, Namespace: "argocd", RepoURL: c.RepositoryURL,
			Path: t.Path, Chart: chart, DestinationNamespace: strings.ToLower(t.Application + "-" + t.Environment), Automated: t.Rank < promotion.RankProd}
	}
	return applications, nil
}
