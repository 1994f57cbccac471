package scenario_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/rollback"
)

// answering is a cluster that has all that it is asked for, on nodes of one platform, but what lacks takes away.
type answering struct {
	platforms []string
	lacks     func(*promotion.ClusterFacts)
}

// Facts implements promotion.ClusterReader.
func (a answering) Facts(_ context.Context, _ promotion.DeploymentKey, n promotion.Needs) promotion.ClusterFacts {
	f := promotion.ClusterFacts{Platforms: a.platforms, Refs: map[promotion.ObjectRef]rollback.State{}, APIs: map[string]rollback.State{},
		Workloads: map[string]promotion.LiveWorkload{}}
	for _, r := range n.Refs {
		f.Refs[r] = rollback.Present
	}
	for _, api := range n.APIs {
		f.APIs[api] = rollback.Yes
	}
	for _, w := range n.Workloads {
		three := 3
		live := promotion.LiveWorkload{Present: true, Selector: w.Selector, Replicas: &three, Room: rollback.Yes}
		if len(w.NodeSelector) > 0 { // no node is special
			live.Room = rollback.No
		}
		f.Workloads[w.Kind+"/"+w.Name] = live
	}
	if a.lacks != nil {
		a.lacks(&f)
	}
	return f
}

// connects has the only cluster answer.
func (w *world) connects(a answering) {
	w.service.Readers = map[string]promotion.ClusterReader{clusterName: a}
}

// verdict checks the only way back in dev, by images alone.
func (w *world) verdict() promotion.RollbackVerdict {
	w.Helper()
	check, err := w.service.CheckRollback(w.Context(), promotion.RollbackRequest{Application: "web", Environment: "dev"})
	w.must(err)
	same(w, "candidates", len(check.Candidates), 1)
	return check.Candidates[0].Images
}

func (w *world) blocked(v promotion.RollbackVerdict, overall rollback.Overall, reasons ...string) {
	w.Helper()
	same(w, "overall", v.Verdict.Overall, overall)
	same(w, "gate", v.Verdict.Gate, rollback.Blocked)
	w.contains("the reasons", strings.Join(v.Verdict.Blocking, " "), reasons...)
}

func TestAWayBackIsSafeOnlyWhileItsImageIsWhole(t *testing.T) {
	w := newWorld(t)
	w.connects(answering{platforms: []string{"linux/amd64"}})
	old := w.inDev("1.1.41") // no other test's, since it is removed
	w.inDev("1.2.0")
	v := w.verdict()
	same(w, "candidate", v.Candidate.ID, old.ID)
	same(w, "artifact", v.Verdict.Predicates.ArtifactAvailable.Value, rollback.Yes)
	same(w, "config", v.Verdict.Predicates.ConfigCompatible.Value, rollback.Yes)
	w.contains("unchecked", strings.Join(v.Verdict.Unchecked, " "), rollback.DataCompatible, rollback.DependencyRecoverable)
	again := w.verdict()
	same(w, "verdict of the same facts", again.ID, v.ID)

	w.pass(time.Minute) // longer than answers of a registry are kept
	w.images.remove(t, "web", "1.1.41", "")
	w.blocked(w.verdict(), rollback.Unsafe, "image-manifest-absent")
}

// TestAWayBackNeedsEveryLayer asks by the check and by the gate; both name the layer that is gone.
func TestAWayBackNeedsEveryLayer(t *testing.T) {
	w := newProdWorld(t)
	w.connects(answering{platforms: []string{platform}})
	const salt = "that loses a layer" // no other test's
	first := w.request("1.1.0", "web")
	first.Artifacts[0].Digest = w.images.push(t, "web", "1.1.0", salt)
	w.runsInProd(w.posts(first).Releases[0])
	second := w.atProd("1.2.0")
	same(w, "verdict while it is whole", w.gate(second, promotion.PhaseMerge, promotion.GateRollbackSafe).Verdict, promotion.Pass)

	w.pass(time.Minute) // longer than answers of a registry are kept
	layer := w.images.removeLayer(t, "web", "1.1.0", salt)
	w.lookAtEverything()
	gate := w.gate(second, promotion.PhaseMerge, promotion.GateRollbackSafe)
	same(w, "verdict", gate.Verdict, promotion.Block)
	w.contains("the reason", gate.Reason, "to 1.1.0 is unsafe", "lacks layers", layer, first.Artifacts[0].Digest)

	stored, err := w.service.RollbackVerdict(w.Context(), int64(w.count("SELECT max(id) FROM rollback_verdicts")))
	w.must(err)
	w.blocked(stored, rollback.Unsafe, "image-layers-missing")
	same(w, "artifact", stored.Verdict.Predicates.ArtifactAvailable.Value, rollback.No)
	same(w, "layers missing", *stored.Facts.Artifact.MissingLayers, 1)
	w.contains("what was found", strings.Join(stored.Notes, " "), layer)
}

func TestAWayBackNeedsEveryPlatformOfTheNodes(t *testing.T) {
	w := newWorld(t)
	w.connects(answering{platforms: []string{"linux/amd64", "linux/s390x"}})
	w.inDev("1.1.0")
	w.inDev("1.2.0")
	w.blocked(w.verdict(), rollback.Unsafe, "image-platform-missing:linux/s390x")
}

func TestAWayBackIsUnknownWhileTheRegistryIsDown(t *testing.T) {
	w := newWorld(t)
	w.connects(answering{platforms: []string{"linux/amd64"}})
	w.inDev("1.1.0")
	w.inDev("1.2.0")
	w.pass(time.Minute) // longer than answers of a registry are kept
	w.images.down.Store(true)
	v := w.verdict()
	w.blocked(v, rollback.UnknownOverall, "image-manifest-unread")
	w.contains("the cause", strings.Join(v.Unread, " "), "could not be asked", "503")
}

func TestAClusterThatSaysHalfIsNeverAYes(t *testing.T) {
	w := newWorld(t)
	w.connects(answering{platforms: []string{"linux/amd64"}, lacks: func(f *promotion.ClusterFacts) {
		f.Platforms, f.APIs, f.Workloads = nil, nil, nil
		f.Unread = []string{"the cluster does not accept Sluice's credentials"}
	}})
	w.inDev("1.1.0")
	w.inDev("1.2.0")
	v := w.verdict()
	w.blocked(v, rollback.UnknownOverall, "platforms-unread", "api-unread:apps/v1/Deployment", "deployment-selector-unread")
	w.contains("the cause", strings.Join(v.Unread, " "), "credentials")
}

func TestAStoredVerdictIsWhatItsFactsSay(t *testing.T) {
	w := newWorld(t)
	w.connects(answering{platforms: []string{"linux/amd64"}})
	w.inDev("1.1.0")
	w.inDev("1.2.0")
	v := w.verdict()
	stored, err := w.service.RollbackVerdict(w.Context(), v.ID)
	w.must(err)
	facts, err := json.Marshal(stored.Facts)
	w.must(err)
	parsed, err := rollback.Parse(facts)
	w.must(err)
	same(w, "overall offline", rollback.Evaluate(parsed).Overall, v.Verdict.Overall)
	same(w, "candidate", stored.Candidate.Version, "1.1.0")
	same(w, "current", stored.Current.Version, "1.2.0")
}

// TestAKeyThatWasRemovedSinceIsBroughtBackWithTheConfiguration: the old code's images alone would start without it.
func TestAKeyThatWasRemovedSinceIsBroughtBackWithTheConfiguration(t *testing.T) {
	const key = "patches:\n  - patch: |-\n      {apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {PARCEL_API: 'https://parcels.test'}}\n\nimages:"
	w := newWorld(t)
	w.connects(answering{platforms: []string{platform}})
	w.edits(overlay("web", "dev"), "images:", key)
	w.inDev("1.1.0")
	w.inDev("1.2.0")
	same(w, "config before", w.verdict().Verdict.Predicates.ConfigCompatible.Value, rollback.Yes)

	w.edits(overlay("web", "dev"), key, "images:")
	check, err := w.service.CheckRollback(w.Context(), promotion.RollbackRequest{Application: "web", Environment: "dev"})
	w.must(err)
	c := check.Candidates[0]
	w.blocked(c.Images, rollback.Unsafe, "config-key-absent:ConfigMap/web/PARCEL_API")
	same(w, "config by images alone", c.Images.Verdict.Predicates.ConfigCompatible.Value, rollback.No)
	same(w, "config by both", c.WithConfig.Verdict.Predicates.ConfigCompatible.Value, rollback.Yes)
	same(w, "the way that is offered", c.Best().Way, promotion.ImagesAndConfig)
	if nearest := check.Nearest(); nearest == nil || nearest.Release.ID != c.Release.ID {
		w.Fatalf("%v is recommended, want 1.1.0", nearest)
	}
}

// Pods of then that ask for other nodes than those of today are asked about by themselves.
func TestEachWayBackIsAskedAboutItsOwnRoom(t *testing.T) {
	const special = "patches:\n  - patch: |-\n      {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {strategy: {rollingUpdate: {maxUnavailable: 0}}, template: {spec: {nodeSelector: {disk: fast}}}}}\n\nimages:"
	w := newWorld(t)
	w.connects(answering{platforms: []string{platform}})
	w.edits(overlay("web", "dev"), "images:", special)
	w.inDev("1.1.0")
	w.inDev("1.2.0")
	w.edits(overlay("web", "dev"), special, "images:")
	check, err := w.service.CheckRollback(w.Context(), promotion.RollbackRequest{Application: "web", Environment: "dev"})
	w.must(err)
	c := check.Candidates[0]
	same(w, "room with today's configuration", c.Images.Facts.Traffic.SurgeRoom, rollback.Yes)
	same(w, "room with that of then", c.WithConfig.Facts.Traffic.SurgeRoom, rollback.No)
}

// TestSomebodyElseLetsAnUnknownStand follows the forward question from an unknown that nobody answers for to its acceptance.
func TestSomebodyElseLetsAnUnknownStand(t *testing.T) {
	w := newProdWorld(t)
	w.connects(answering{lacks: func(f *promotion.ClusterFacts) { f.Unread = []string{"its nodes may not be listed"} }})
	w.verifies(w.mergedInProd("1.1.0").ID)
	id := w.atProd("1.2.0")
	const open = "platforms-unread"
	gate := w.gate(id, promotion.PhaseMerge, promotion.GateRollbackSafe)
	same(w, "verdict", gate.Verdict, promotion.Block)
	w.contains("the reason", gate.Reason, "1.1.0", "nodes may not be listed")

	accept := promotion.AcceptRequest{Promotion: id, Unknown: open, Reason: "all nodes are amd64", ExpiresAt: w.clock.now().Add(time.Hour)}
	_, err := w.service.AcceptUnknown(w.Context(), rita, accept)
	w.refused(err, "own-promotion")
	wrong := accept
	wrong.Unknown = "image-manifest-absent"
	_, err = w.service.AcceptUnknown(w.Context(), ada, wrong)
	w.refused(err, "no-such-unknown")
	_, err = w.service.AcceptUnknown(w.Context(), ada, accept)
	w.must(err)
	w.settle()
	gate = w.gate(id, promotion.PhaseMerge, promotion.GateRollbackSafe)
	same(w, "verdict once accepted", gate.Verdict, promotion.Pass)
	w.contains("the reason", gate.Reason, open, "ada", "all nodes are amd64")
}
