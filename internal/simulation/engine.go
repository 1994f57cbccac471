package simulation

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// EngineOptions say what the stand-in for Argo CD works with.
type EngineOptions struct {
	Client dynamic.Interface
	// Mapper knows where kinds are served. Nil: their plurals are guessed, and all of them live in namespaces.
	Mapper meta.RESTMapper
	// Head is the commit that main is at, empty while it has none.
	Head func(context.Context) (string, error)
	// Render is what a path holds at a revision.
	Render func(ctx context.Context, revision, path string) ([]*unstructured.Unstructured, error)
	Now    func() time.Time
}

// Engine stands in for Argo CD's application controller, on whatever API server its client reaches. It behaves as Argo CD 3.5 was
// recorded to.
type Engine struct {
	EngineOptions
	api
	rendered renderCache
}

// NewEngine prepares the stand-in; each Step moves it.
func NewEngine(o EngineOptions) *Engine {
	return &Engine{EngineOptions: o, api: api{client: o.Client, mapper: o.Mapper, now: o.Now}}
}

// Step takes every Application one step further.
func (e *Engine) Step(ctx context.Context) error {
	head, err := e.Head(ctx)
	if err != nil || head == "" {
		return err
	}
	return e.stepApplications(ctx, head)
}
