//go:build peers

package gitea_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluicehq/sluice/internal/postgres"
	"github.com/sluicehq/sluice/internal/promotion"
)

const clusterName = "cluster-1"

// cluster keeps which syncs were asked for; what it runs the test tells.
type cluster struct {
	mu    sync.Mutex
	syncs []promotion.SyncRequest
}

func (c *cluster) asked() []promotion.SyncRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.syncs)
}

// overlay is the file that Sluice edits.
func overlay(environment string) string {
	return "apps/web/overlays/" + environment + "/kustomization.yaml"
}

// onlyProd leaves web no environment but prod: nothing has to be verified before.
func onlyProd(files map[string][]byte) {
	delete(files, overlay("dev"))
	delete(files, overlay("staging"))
}

// posts has CI post a version of web.
func (w *world) posts(version string) promotion.BuildOutcome {
	w.Helper()
	out, _, err := w.service.RecordBuild(w.Context(), ci, promotion.BuildRequest{Version: version,
		Source:    promotion.Source{Repository: "https://git.example.test/shop/web", Commit: fmt.Sprintf("%040x", version)[:40]},
		Artifacts: []promotion.BuildArtifact{{Repository: w.images + "/shop/web", Digest: w.push("web", version)}}})
	w.must(err)
	return out
}

// promotes has rita ask for a release in an environment.
func (w *world) promotes(r promotion.Release, environment string) int64 {
	w.Helper()
	p, err := w.service.Promote(w.Context(), rita, promotion.PromoteRequest{Application: r.Application, Environment: environment,
		Release: fmt.Sprint(r.ID), Reason: "the weekly release"})
	w.must(err)
	return p.ID
}

// opens posts a version of web and asks for it in prod: its pull request is open.
func (w *world) opens(version string) promotion.Promotion {
	w.Helper()
	id := w.promotes(w.posts(version).Releases[0], "prod")
	p := w.becomes(id, promotion.StateOpen)
	w.turns(p.Number, "pending")
	return p
}

func (w *world) promotion(id int64) promotion.Promotion {
	w.Helper()
	p, err := w.service.Store.Promotion(w.Context(), id)
	w.must(err)
	return p
}

// becomes waits until a promotion has reached a state. It may be past it already: a merge is synced within milliseconds.
func (w *world) becomes(id int64, state promotion.State) (p promotion.Promotion) {
	w.Helper()
	way := []promotion.State{promotion.StateRequested, promotion.StateOpen, promotion.StateMerged, promotion.StateSyncing, promotion.StateLive, promotion.StateVerified}
	at := slices.Index(way, state) // -1: an end, which nothing follows
	w.eventually(fmt.Sprintf("promotion %d is %s", id, state), func() bool {
		p = w.promotion(id)
		return p.State() == state || at >= 0 && slices.Index(way, p.State()) > at
	})
	return p
}

// change is the promotion that a person's own pull request is.
func (w *world) change(number int) promotion.Promotion {
	w.Helper()
	var all []promotion.Promotion
	w.eventually(fmt.Sprintf("#%d is a promotion", number), func() bool {
		var err error
		all, err = w.service.Store.Changes(w.Context(), repository, number)
		w.must(err)
		return len(all) > 0
	})
	return all[0]
}

// holds waits until a gate says something.
func (w *world) holds(id int64, gate string, verdict promotion.Verdict, reason string) {
	w.Helper()
	w.eventually(fmt.Sprintf("gate %s of promotion %d is %s: %s", gate, id, verdict, reason), func() bool {
		all, err := w.service.Store.Gates(w.Context(), id)
		w.must(err)
		return slices.ContainsFunc(all, func(g promotion.GateResult) bool {
			return g.Phase == promotion.PhaseMerge && g.Gate == gate && g.Verdict == verdict && strings.Contains(g.Reason, reason)
		})
	})
}

// rollsOut has the cluster apply a merged promotion and run it healthily.
func (w *world) rollsOut(id int64, verified bool) {
	w.Helper()
	p := w.promotion(id)
	w.sees(p.Target.Environment, func(o *promotion.Observation) {
		o.Sync, o.Revision, o.ComparedRevision, o.Operation, o.OperationRev = promotion.Synced, p.MergeSHA, p.MergeSHA, "Succeeded", p.MergeSHA
		for _, a := range p.Release.Artifacts {
			o.RunningImages = append(o.RunningImages, promotion.ContainerImage{Pod: "pod", Container: "main", Image: a.Reference(), ImageID: a.Reference(), Ready: true})
		}
		o.Rollout = promotion.Rollout{Desired: 1, Updated: 1, Ready: 1, Available: 1}
	})
	if verified {
		w.becomes(id, promotion.StateVerified)
		return
	}
	w.eventually(fmt.Sprintf("promotion %d is live", id), func() bool {
		p = w.promotion(id)
		return p.State() == promotion.StateLive || p.State() == promotion.StateVerified
	})
}

// sees has the cluster report web's deployment in an environment: out of sync with nothing running, but for a change.
func (w *world) sees(environment string, change func(*promotion.Observation)) {
	w.Helper()
	path, url := "apps/web/overlays/"+environment, w.service.Sites[repository].URL
	application, err := json.Marshal(map[string]any{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
		"metadata": map[string]any{"name": "web-" + environment, "namespace": "argocd"},
		"spec": map[string]any{"project": "default", "source": map[string]any{"repoURL": url, "path": path, "targetRevision": "main"},
			"destination": map[string]any{"name": "in-cluster"}}})
	w.must(err)
	o := promotion.Observation{Key: promotion.DeploymentKey{Cluster: clusterName, Namespace: "argocd", Name: "web-" + environment},
		EngineObject: application, RepositoryURL: url, Path: path, TargetRevision: "main", AutomatedSync: environment != "prod",
		Sync: promotion.OutOfSync, Health: promotion.Healthy, ObservedAt: time.Now()}
	change(&o)
	w.must(w.service.Observed(w.Context(), o))
	watch := promotion.Watch{Cluster: clusterName, Server: "sluice-1:8080", From: o.ObservedAt, To: o.ObservedAt.Add(time.Hour)} // the rest of the test
	w.must(w.service.Store.(*postgres.Store).SaveWatch(w.Context(), watch))
}

// gone waits until a branch is no longer in Gitea.
func (w *world) gone(branch string) {
	w.Helper()
	w.eventually("branch "+branch+" is deleted", func() bool { return w.clone.Remote(branch) == "" })
}

// audited tells whether somebody did something to a promotion, by the audit.
func (w *world) audited(id int64, actor, action string) bool {
	w.Helper()
	var is bool
	w.must(w.pool.QueryRow(w.Context(), "SELECT EXISTS (SELECT FROM audit_events WHERE promotion_id = $1 AND actor = $2 AND action = $3)", id, actor, action).Scan(&is))
	return is
}

// violations counts what went past a gate.
func (w *world) violations() (n int) {
	w.Helper()
	w.must(w.pool.QueryRow(w.Context(), "SELECT count(*) FROM violations").Scan(&n))
	return n
}

// PauseSync implements promotion.Cluster; nobody pauses here.
func (c *cluster) PauseSync(context.Context, promotion.DeploymentKey) error { return nil }

// ResumeSync implements promotion.Cluster.
func (c *cluster) ResumeSync(context.Context, promotion.DeploymentKey) error { return nil }

// Sync implements promotion.Cluster.
func (c *cluster) Sync(_ context.Context, _ promotion.DeploymentKey, r promotion.SyncRequest) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.syncs = append(c.syncs, r)
	return nil
}
