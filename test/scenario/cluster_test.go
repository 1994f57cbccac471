package scenario_test

import (
	"context"
	"encoding/json"
	"maps"
	"sync"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

const clusterName = "cluster-1"

// soak is how long the default policy wants a release to be healthy.
const soak = 5 * time.Second

// cluster keeps which syncs were asked for; what it runs is told by w.sees.
type cluster struct {
	mu    sync.Mutex
	syncs []promotion.SyncRequest
	busy  bool // with somebody else's operation

	pauses  []string // and ends of pauses that were asked for
	refuses error    // to pause and resume
}

// PauseSync implements promotion.Cluster.
func (c *cluster) PauseSync(_ context.Context, d promotion.DeploymentKey) error {
	return c.asked("pause " + d.Name)
}

// ResumeSync implements promotion.Cluster.
func (c *cluster) ResumeSync(_ context.Context, d promotion.DeploymentKey) error {
	return c.asked("resume " + d.Name)
}

func (c *cluster) asked(what string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refuses != nil {
		return c.refuses
	}
	c.pauses = append(c.pauses, what)
	return nil
}

// Sync implements promotion.Cluster.
func (c *cluster) Sync(_ context.Context, _ promotion.DeploymentKey, r promotion.SyncRequest) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy {
		return promotion.ErrOperationRunning
	}
	c.syncs = append(c.syncs, r)
	return nil
}

// change alters what is observed of a deployment.
type change func(*promotion.Observation)

// sees has the cluster report a deployment: as it was seen last (at first out of sync, with nothing running), with changes.
func (w *world) sees(application, environment string, changes ...change) {
	w.Helper()
	w.seesIn(clusterName, application, environment, changes...)
}

func (w *world) seesIn(cluster, application, environment string, changes ...change) {
	w.Helper()
	path := "apps/" + application + "/overlays/" + environment
	key := promotion.DeploymentKey{Cluster: cluster, Namespace: "argocd", Name: application + "-" + environment}
	o, known := w.seen[key]
	if !known {
		o = promotion.Observation{Key: key, EngineObject: w.application(key.Name, path, nil), RepositoryURL: w.host.CloneURL(repository), Path: path, TargetRevision: "main",
			AutomatedSync: environment != "prod" && environment != "production", Sync: promotion.OutOfSync, Health: promotion.Healthy}
	}
	for _, change := range changes {
		change(&o)
	}
	o.ObservedAt = w.clock.now()
	w.seen[key] = o
	w.must(w.service.Observed(w.Context(), o))
	w.settle()
}

// application is the Argo CD Application that deploys a path, with more beside the source's path.
func (w *world) application(name, path string, more map[string]any) []byte {
	w.Helper()
	source := map[string]any{"repoURL": w.host.CloneURL(repository), "path": path, "targetRevision": "main"}
	maps.Copy(source, more)
	text, err := json.Marshal(map[string]any{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
		"metadata": map[string]any{"name": name, "namespace": "argocd"},
		"spec":     map[string]any{"project": "default", "source": source, "destination": map[string]any{"name": "in-cluster"}}})
	w.must(err)
	return text
}

// adding is an Application that adds something to what Git says.
func (w *world) adding(application, environment string, more map[string]any) change {
	return func(o *promotion.Observation) {
		o.EngineObject = w.application(application+"-"+environment, "apps/"+application+"/overlays/"+environment, more)
	}
}

func syncing(revision string) change {
	return func(o *promotion.Observation) {
		o.Operation, o.OperationRev, o.Sync = "Running", revision, promotion.OutOfSync
	}
}

func syncFailed(revision, message string) change {
	return func(o *promotion.Observation) {
		o.Operation, o.OperationRev, o.Sync, o.Message = "Failed", revision, promotion.OutOfSync, message
	}
}

func synced(revision string) change {
	return func(o *promotion.Observation) {
		o.Sync, o.Revision, o.ComparedRevision, o.Operation, o.OperationRev = promotion.Synced, revision, revision, "Succeeded", revision
	}
}

func health(h promotion.HealthStatus, message string) change {
	return func(o *promotion.Observation) { o.Health, o.Message = h, message }
}

func healthy(o *promotion.Observation) { o.Health, o.Message = promotion.Healthy, "" }

// container is one running container's image.
type container struct{ image, id string }

// containers replaces what runs.
func containers(all ...container) change {
	return func(o *promotion.Observation) {
		o.RunningImages = nil
		for _, c := range all {
			o.RunningImages = append(o.RunningImages, promotion.ContainerImage{Pod: "pod", Container: "main", Image: c.image, ImageID: c.id, Ready: true})
		}
		o.Rollout = promotion.Rollout{Desired: len(all), Updated: len(all), Ready: len(all), Available: len(all)}
	}
}

// running is what a node says of a release's artifacts: each by its platform's digest.
func (w *world) running(r promotion.Release) change {
	w.Helper()
	var all []container
	for _, a := range r.Artifacts {
		digest := a.Digest
		if digest == "" {
			var err error
			digest, err = w.images.client.Resolve(w.Context(), a.Repository, a.Tag)
			w.must(err)
		}
		all = append(all, container{a.Reference(), a.Repository + "@" + w.platformDigest(a.Repository, digest)})
	}
	return containers(all...)
}

// runningByIndex is the same from a node that names the index's digest.
func runningByIndex(r promotion.Release) change {
	var all []container
	for _, a := range r.Artifacts {
		all = append(all, container{a.Reference(), a.Reference()})
	}
	return containers(all...)
}

// rollsOut has the cluster apply a merged promotion and run it healthily.
func (w *world) rollsOut(id int64) {
	w.Helper()
	p := w.promotion(id)
	if p.MergeSHA == "" {
		w.Fatalf("promotion %d is %s and not merged: %s", id, p.State(), p.WaitsFor)
	}
	w.sees(p.Target.Application, p.Target.Environment, synced(p.MergeSHA), healthy, w.running(p.Release))
	w.is(id, promotion.StateLive)
}

// verifies has the cluster roll a merged promotion out, and run it for as long as policy wants.
func (w *world) verifies(id int64) {
	w.Helper()
	w.rollsOut(id)
	w.pass(soak)
	w.is(id, promotion.StateVerified)
}
