// Package simulation is the demo's cluster: objects as an API server keeps them, moved by stand-ins for Argo CD's
// application controller and for the controllers of workloads with their nodes. The stand-ins use
// dynamic.Interface only. State is kept in a file, since the demo may be killed at any moment.
package simulation

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// Application is an Argo CD Application to be there.
type Application struct {
	Name, Namespace      string
	Project              string // default when empty
	Environment          string // a label, if not empty
	RepoURL, Path        string
	Chart                string // folder of the Helm chart that Path holds values.yaml for; empty when Path renders by itself
	DestinationNamespace string
	Automated            bool // synced, pruned and healed without being asked
}

// Image is what a node finds out when it pulls an image.
type Image struct {
	ID      string // repository@sha256:… of the index or of the platform's manifest
	Crashes bool   // its program ends right after it starts
}

// Options say what is simulated.
type Options struct {
	File string // where the state is kept
	// Head is the commit that main is at, empty while it has none.
	Head func(context.Context) (string, error)
	// Render is what a path holds at a revision.
	Render func(ctx context.Context, revision, path string) ([]*unstructured.Unstructured, error)
	// Pull fails with the registry's reason when a node cannot get an image.
	Pull func(ctx context.Context, image string) (Image, error)
	// Applications is asked at each step: those that are missing are made, those that it no longer names are
	// deleted with what they deployed, as an ApplicationSet does. In a cluster that is new they run already.
	Applications func(context.Context) ([]Application, error)
	Now          func() time.Time
}

// Simulation is the simulated cluster.
type Simulation struct {
	Options
	api    // the stand-ins' own, saved once a step
	store  *store
	engine *Engine

	stepping sync.Mutex
	saving   sync.Mutex
	saved    int64 // the version in the file
}

// Open loads the cluster's state, or starts with an empty cluster.
func Open(o Options) (*Simulation, error) {
	kept := newStore(o.Now)
	own := &client{store: kept, written: func() error { return nil }}
	s := &Simulation{Options: o, store: kept, api: api{client: own, now: o.Now},
		engine: NewEngine(EngineOptions{Client: own, Head: o.Head, Render: o.Render, Now: o.Now})}
	if err := s.load(); err != nil {
		return nil, err
	}
	return s, s.ensureNode(context.Background())
}

// Client is the cluster's API. A write is in the file before it is answered.
func (s *Simulation) Client() dynamic.Interface {
	return &client{store: s.store, written: s.save}
}

// Run takes a step each interval until ctx ends. A step that fails is reported and the next one tries again.
func (s *Simulation) Run(ctx context.Context, interval time.Duration, report func(error)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		if err := s.Step(ctx); err != nil && ctx.Err() == nil {
			report(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// adoptionSteps is how many steps the first start takes at once, so that what runs already is seen at once.
const adoptionSteps = 12

// Step moves everything by one step and saves what changed.
func (s *Simulation) Step(ctx context.Context) error {
	s.stepping.Lock()
	defer s.stepping.Unlock()
	head, err := s.Head(ctx)
	if err != nil || head == "" {
		return err
	}
	adopted, err := s.ensureApplications(ctx, head)
	if err != nil {
		return fmt.Errorf("the simulated ApplicationSet: %w", err)
	}
	rounds := 1
	if adopted {
		rounds = adoptionSteps
	}
	for range rounds {
		if err := s.stepWorkloads(ctx); err != nil {
			return fmt.Errorf("the simulated workload controllers: %w", err)
		}
		if err := s.engine.stepApplications(ctx, head); err != nil {
			return fmt.Errorf("the simulated Argo CD: %w", err)
		}
	}
	return s.save()
}
