package scenario_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/rollback"
)

// soon is how long these tests wait for what never answers.
const soon = 200 * time.Millisecond

// never answers before whoever asks has lost patience.
func never(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func TestAWayBackIsUnknownWhateverTheRegistryFailsIn(t *testing.T) {
	for name, test := range map[string]struct {
		answers http.HandlerFunc
		reason  string
		cause   []string
	}{
		"no answer in time": {never, "image-manifest-unread", []string{"could not be asked", "no answer in time"}},
		"credentials revoked": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", `Basic realm="shop"`)
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"errors": [{"code": "UNAUTHORIZED", "message": "the robot account robot$sluice has been disabled"}]}`)
		}, "image-manifest-unread", []string{"401 Unauthorized (UNAUTHORIZED)", "check Sluice's credentials"}},
		"half a manifest": {func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/manifests/") {
				w.Header().Set("Content-Length", "2000")
				_, _ = io.WriteString(w, `{"schemaVersion": 2, "manifests": [`)
				return
			}
			stored.ServeHTTP(w, r)
		}, "image-manifest-unread", []string{"could not be asked", "unexpected EOF"}},
		"manifests without blobs": {func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/blobs/") {
				http.Error(w, "the bucket is away", http.StatusBadGateway)
				return
			}
			stored.ServeHTTP(w, r)
		}, "image-manifest-unread", []string{"asking for blob sha256:", "502"}},
		"a page of something else": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "this registry has moved", http.StatusNotFound)
		}, "image-manifest-unread", []string{"could not be asked", "404"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.connects(answering{platforms: []string{platform}})
			w.inDev("1.1.0")
			w.inDev("1.2.0")
			w.pass(time.Minute) // longer than answers of a registry are kept
			w.service.Patience.Source = soon
			w.images.answers(test.answers)
			v := w.verdict()
			w.blocked(v, rollback.UnknownOverall, test.reason)
			same(w, "artifact", v.Verdict.Predicates.ArtifactAvailable.Value, rollback.Unknown)
			same(w, "config", v.Verdict.Predicates.ConfigCompatible.Value, rollback.Yes)
			w.contains("the cause", strings.Join(v.Unread, " "), test.cause...)
		})
	}
}

// silent is a cluster that never answers; one that does not even look at its context keeps on until the test is over.
type silent struct{ until <-chan struct{} }

func (s silent) Facts(ctx context.Context, _ promotion.DeploymentKey, _ promotion.Needs) promotion.ClusterFacts {
	if s.until == nil {
		<-ctx.Done()
	} else {
		<-s.until
	}
	return promotion.ClusterFacts{}
}

func TestAWayBackIsUnknownWhenTheClusterGivesNoAnswer(t *testing.T) {
	for name, deaf := range map[string]bool{"that gives up in time": false, "that does not": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.inDev("1.1.0")
			w.inDev("1.2.0")
			reader := silent{}
			if deaf {
				reader.until = w.Context().Done()
			}
			w.service.Readers = map[string]promotion.ClusterReader{clusterName: reader}
			w.service.Patience.Source = soon
			v := w.verdict()
			w.blocked(v, rollback.UnknownOverall, "platforms-unread", "api-unread:apps/v1/Deployment", "deployment-selector-unread")
			same(w, "whether layers are missing", *v.Facts.Artifact.MissingLayers, 0)
			w.contains("the cause", strings.Join(v.Unread, " "), "cluster "+clusterName+" gave no answer in time")
		})
	}
}

// TestOneWhoIsSilentTakesNothingFromTheOthers has the registry use up the time of the whole check.
func TestOneWhoIsSilentTakesNothingFromTheOthers(t *testing.T) {
	w := newWorld(t)
	w.connects(answering{platforms: []string{platform}})
	w.service.Patience = promotion.Patience{Check: soon, Source: time.Hour}
	posted := plain(files(parcels))
	for _, version := range []string{"1.1.0", "1.2.0"} {
		r := w.request(version, "web")
		r.Migrations = posted
		out := w.posts(r)
		w.settle()
		w.verifies(out.Promotions[0].ID)
	}
	w.pass(time.Minute) // longer than answers of a registry are kept
	w.images.answers(never)
	v := w.verdict()
	w.blocked(v, rollback.UnknownOverall, "image-manifest-unread")
	w.contains("the cause", strings.Join(v.Unread, " "), "no answer in time")
	same(w, "config", v.Verdict.Predicates.ConfigCompatible.Value, rollback.Yes)
	same(w, "traffic", v.Verdict.Predicates.TrafficSwitchable.Value, rollback.Yes)
	same(w, "the list of migrations", v.Facts.Data.MigrationList, rollback.Complete)
}

// TestTheGateDoesNotWaitForASilentRegistry asks where no cluster is read, and images are all that is looked at.
func TestTheGateDoesNotWaitForASilentRegistry(t *testing.T) {
	w := newProdWorld(t)
	w.runsInProd(w.released("1.1.0", "web"))
	id := w.atProd("1.2.0")
	w.service.Patience.Source = soon
	w.images.answers(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/manifests/"+w.images.push(w.TB, "web", "1.1.0", "")) {
			never(rw, r)
			return
		}
		stored.ServeHTTP(rw, r)
	})
	w.lookAtEverything()
	g := w.gate(id, promotion.PhaseMerge, promotion.GateRollbackSafe)
	same(w, "verdict", g.Verdict, promotion.Block)
	w.contains("the reason", g.Reason, "unknown whether", "no answer in time")
}
