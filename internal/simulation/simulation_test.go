package simulation_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/sluicehq/sluice/internal/promotion"
)

var (
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	pods        = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

func splitDocuments(manifests string) []string { return strings.Split(manifests, "\n---\n") }

// live tells whether an observation shows a version synced, healthy and running in every pod.
func live(o promotion.Observation, revision, version string) bool {
	runs := len(o.RunningImages) == 2
	for _, c := range o.RunningImages {
		runs = runs && c.ImageID == registry+"@"+digest(version) && c.Ready
	}
	return runs && o.Sync == promotion.Synced && o.Health == promotion.Healthy && o.Revision == revision
}

func TestWhatRunsAlreadyIsSeenAfterOneStep(t *testing.T) {
	for name, automated := range map[string]bool{"automated": true, "manual": false} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, automated, func(t *testing.T, w *world) {
				w.step(1)
				if o := w.last(); !live(o, commit(1), "1.0.0") || o.Message != "" || o.AutomatedSync != automated || !o.Simulated {
					t.Errorf("after one step: %+v", o)
				}
			})
		})
	}
}

func TestNewDigestRollsOut(t *testing.T) {
	inWorld(t, true, func(t *testing.T, w *world) {
		w.step(1)
		before := len(w.observed())
		w.publish("1.1.0", false)
		w.push(2, web("1.1.0"))
		w.step(settled)
		if o := w.last(); !live(o, commit(2), "1.1.0") || o.Message != "" {
			t.Fatalf("in the end: %+v", o)
		}
		mixed, running := false, false
		for _, o := range w.observed()[before:] {
			images := map[string]bool{}
			ready := 0
			for _, c := range o.RunningImages {
				images[c.ImageID] = true
				if c.Ready {
					ready++
				}
			}
			mixed = mixed || len(images) == 2
			running = running || o.Operation == "Running" && o.OperationRev == commit(2)
			if ready < 2 {
				t.Errorf("fewer than 2 pods ready although maxUnavailable is 0: %+v", o)
			}
			if o.Revision == commit(2) && o.Sync == promotion.Synced && o.Health == promotion.Healthy && !live(o, commit(2), "1.1.0") {
				t.Errorf("healthy before the new digest runs alone: %+v", o)
			}
		}
		if !mixed || !running {
			t.Errorf("both images at once: %v, operation running: %v", mixed, running)
		}
		if got := w.history(); !slices.Equal(got, []string{commit(1), commit(2)}) {
			t.Errorf("history: %v", got)
		}
	})
}

func TestManualSyncWaitsForSync(t *testing.T) {
	inWorld(t, false, func(t *testing.T, w *world) {
		w.step(1)
		w.publish("1.1.0", false)
		w.push(2, web("1.1.0"))
		w.step(settled)
		if o := w.last(); o.Sync != promotion.OutOfSync || o.Health != promotion.Healthy || o.Revision != commit(1) || o.Message != "" {
			t.Fatalf("before the sync: %+v", o)
		}
		if err := w.sync(7, commit(2)); err != nil {
			t.Fatal(err)
		}
		w.step(settled)
		if o := w.last(); !live(o, commit(2), "1.1.0") {
			t.Fatalf("after the sync: %+v", o)
		}
	})
}

func TestSyncTwiceForOnePromotionIsOneSync(t *testing.T) {
	inWorld(t, false, func(t *testing.T, w *world) {
		w.step(1)
		w.publish("1.1.0", false)
		w.push(2, web("1.1.0"))
		for range settled { // asked for before it begins, while it runs and after it ended
			if err := w.sync(7, commit(2)); err != nil {
				t.Fatal(err)
			}
			w.step(1)
		}
		if got := w.history(); !slices.Equal(got, []string{commit(1), commit(2)}) {
			t.Errorf("history: %v", got)
		}
	})
}

func TestSomebodyElsesOperationIsNotReplaced(t *testing.T) {
	inWorld(t, false, func(t *testing.T, w *world) {
		w.step(1)
		w.push(2, web("1.0.0"))
		w.change(w.get(applications, "web-prod"), map[string]any{"initiatedBy": map[string]any{"username": "bob"},
			"sync": map[string]any{"revision": commit(1)}}, "operation")
		for range 2 { // waiting, then running
			err := w.sync(7, commit(2))
			if !errors.Is(err, promotion.ErrOperationRunning) || !strings.Contains(err.Error(), "bob") {
				t.Fatalf("sync over bob's operation: %v", err)
			}
			w.step(1)
		}
		w.step(1)
		if err := w.sync(7, commit(2)); err != nil {
			t.Errorf("sync after bob's operation: %v", err)
		}
		if err := w.sync(8, commit(2)); !errors.Is(err, promotion.ErrOperationRunning) {
			t.Errorf("sync over another promotion's: %v", err)
		}
	})
}

func TestSyncOfAnUnknownApplication(t *testing.T) {
	inWorld(t, false, func(t *testing.T, w *world) {
		err := w.cluster.Sync(t.Context(), promotion.DeploymentKey{Namespace: "argocd", Name: "nothing"}, promotion.SyncRequest{})
		if !errors.Is(err, promotion.ErrNotFound) {
			t.Errorf("sync of nothing: %v", err)
		}
	})
}

func TestMissingImage(t *testing.T) {
	inWorld(t, true, func(t *testing.T, w *world) {
		w.step(1)
		w.push(2, web("1.1.0"))
		w.step(settled)
		o := w.last()
		if o.Sync != promotion.Synced || o.Health != promotion.Degraded || o.Revision != commit(2) || o.Rollout.Old != 2 {
			t.Errorf("with a missing image: %+v", o)
		}
		for _, want := range []string{"cannot pull image " + registry + "@" + digest("1.1.0"), "not found", "The registry does not have it"} {
			if !strings.Contains(o.Message, want) {
				t.Errorf("%q does not say %q", o.Message, want)
			}
		}
		w.publish("1.1.0", false)
		w.step(settled)
		if o := w.last(); !live(o, commit(2), "1.1.0") {
			t.Errorf("after the image was pushed: %+v", o)
		}
	})
}

func TestCrashLoopAndGoingBack(t *testing.T) {
	inWorld(t, true, func(t *testing.T, w *world) {
		w.step(1)
		w.publish("1.1.0", true)
		w.push(2, web("1.1.0"))
		w.step(settled)
		o := w.last()
		if o.Health != promotion.Degraded || !strings.Contains(o.Message, "crashes again and again (exit code 1)") {
			t.Errorf("in a crash loop: %+v", o)
		}
		w.push(3, web("1.0.0"))
		w.step(settled)
		if o := w.last(); !live(o, commit(3), "1.0.0") {
			t.Errorf("after going back: %+v", o)
		}
	})
}

func TestKilledAfterEveryWriteOfARollout(t *testing.T) {
	for name, automated := range map[string]bool{"automated": true, "manual": false} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, automated, func(t *testing.T, w *world) {
				w.step(1)
				w.publish("1.1.0", false)
				w.push(2, web("1.1.0"))
				states := [][]byte{w.saved()}
				if !automated {
					if err := w.sync(7, commit(2)); err != nil {
						t.Fatal(err)
					}
					states[0] = w.saved() // before any step, and it has to be in the file
				}
				w.simulation.AfterEachWrite(func() error {
					states = append(states, w.saved())
					return nil
				})
				w.step(settled)
				if len(states) < 20 {
					t.Fatalf("only %d writes", len(states))
				}
				for i, state := range states {
					w.restart(state)
					w.step(settled)
					if o := w.last(); !live(o, commit(2), "1.1.0") {
						t.Fatalf("killed after write %d: %+v", i, o)
					}
					if got := w.history(); !slices.Equal(got, []string{commit(1), commit(2)}) {
						t.Errorf("killed after write %d: history %v", i, got)
					}
				}
			})
		})
	}
}

func TestStatefulSetsAndDaemonSetsRollOutToo(t *testing.T) {
	for _, kind := range []string{"StatefulSet", "DaemonSet"} {
		t.Run(kind, func(t *testing.T) {
			inWorld(t, true, func(t *testing.T, w *world) {
				of := func(version string) string {
					return strings.Replace(splitDocuments(web(version))[1], "kind: Deployment", "kind: "+kind, 1)
				}
				w.publish("1.1.0", false)
				w.publish("1.2.0", true)
				for i, version := range []string{"1.0.0", "1.1.0", "1.2.0", "1.1.0"} {
					w.push(10+i, of(version))
					w.step(settled)
					o := w.last()
					crashes := strings.Contains(o.Message, "crashes again and again")
					if version == "1.2.0" {
						if o.Health != promotion.Progressing || !crashes {
							t.Errorf("%s %s: %+v", kind, version, o)
						}
						continue
					}
					for _, c := range o.RunningImages {
						if c.ImageID != registry+"@"+digest(version) {
							t.Errorf("%s %s: pod %s runs %s", kind, version, c.Pod, c.ImageID)
						}
					}
					if o.Sync != promotion.Synced || o.Health != promotion.Healthy || len(o.RunningImages) == 0 {
						t.Errorf("%s %s: %+v", kind, version, o)
					}
				}
			})
		})
	}
}

func TestBrokenOverlay(t *testing.T) {
	inWorld(t, true, func(t *testing.T, w *world) {
		w.step(1)
		w.head = commit(2) // a commit whose path cannot be rendered
		w.step(2)
		o := w.last()
		if o.Sync != promotion.SyncUnknown || o.Health != promotion.HealthUnknown || o.Revision != commit(1) ||
			!strings.HasPrefix(o.Message, "Argo CD cannot compare with Git: kustomization.yaml: no such file.") {
			t.Errorf("with a broken overlay: %+v", o)
		}
	})
}

func TestRefusedSyncAppliesTheRest(t *testing.T) {
	inWorld(t, true, func(t *testing.T, w *world) {
		w.step(1)
		w.push(2, strings.ReplaceAll(web("1.0.0"), "app: web", "app: other"))
		w.step(settled)
		o := w.last()
		if o.Operation != "Failed" || o.OperationRev != commit(2) || o.Revision != commit(1) || o.Sync != promotion.OutOfSync {
			t.Errorf("refused: %+v", o)
		}
		for _, want := range []string{"spec.selector", "field is immutable", "Applied all the same: Service web."} {
			if !strings.Contains(o.Message, want) {
				t.Errorf("%q does not say %q", o.Message, want)
			}
		}
		if got := w.history(); !slices.Equal(got, []string{commit(1)}) {
			t.Errorf("history: %v", got)
		}
	})
}

func TestChangeByHand(t *testing.T) {
	t.Run("is healed where the Application says so, and is no deployment", func(t *testing.T) {
		inWorld(t, true, func(t *testing.T, w *world) {
			w.step(2)
			w.change(w.get(deployments, "web"), int64(3), "spec", "replicas")
			w.step(settled)
			if o := w.last(); !live(o, commit(1), "1.0.0") {
				t.Errorf("healed: %+v", o)
			}
			if got := w.history(); !slices.Equal(got, []string{commit(1)}) {
				t.Errorf("history: %v", got)
			}
		})
	})
	t.Run("is healed later each time, until it was left alone", func(t *testing.T) {
		inWorld(t, true, func(t *testing.T, w *world) {
			w.step(2)
			heals := func() (seconds int) {
				w.change(w.get(deployments, "web"), int64(3), "spec", "replicas")
				for seconds < 60 {
					w.step(1)
					seconds++
					if n, _, _ := unstructured.NestedInt64(w.get(deployments, "web").Object, "spec", "replicas"); n == 2 {
						return seconds
					}
				}
				return seconds
			}
			took := []int{heals(), heals(), heals(), heals()}
			if took[0] > 4 || took[1] > 5 || took[2] < 6 || took[2] > 9 || took[3] < 18 || took[3] > 21 {
				t.Errorf("healed after %v seconds, want at once, then about 2, 6 and 18 after the last time", took)
			}
			w.step(340)
			if again := heals(); again > 4 {
				t.Errorf("healed after %d seconds, long after the last time", again)
			}
		})
	})
	t.Run("stays and is named elsewhere", func(t *testing.T) {
		inWorld(t, false, func(t *testing.T, w *world) {
			w.step(2)
			w.change(w.get(deployments, "web"), int64(3), "spec", "replicas")
			w.step(settled)
			o := w.last()
			if o.Sync != promotion.OutOfSync || o.Rollout.Ready != 3 || !strings.HasPrefix(o.Message, "Somebody changed the cluster: Deployment web") {
				t.Errorf("drifted: %+v", o)
			}
		})
	})
}

func TestWhatIsRenderedNoMoreIsPruned(t *testing.T) {
	inWorld(t, false, func(t *testing.T, w *world) {
		w.step(1)
		w.push(2, splitDocuments(web("1.0.0"))[1]) // without the Service
		w.step(2)
		if o := w.last(); o.Sync != promotion.OutOfSync {
			t.Fatalf("before: %+v", o)
		}
		if err := w.sync(7, commit(2)); err != nil {
			t.Fatal(err)
		}
		w.step(settled)
		services, err := w.simulation.Client().Resource(schema.GroupVersionResource{Version: "v1", Resource: "services"}).List(t.Context(), metav1.ListOptions{})
		if o := w.last(); err != nil || len(services.Items) != 0 || !live(o, commit(2), "1.0.0") {
			t.Errorf("after: %v, %d services, %+v", err, len(services.Items), o)
		}
	})
}

func TestApplicationsFollowTheSet(t *testing.T) {
	inWorld(t, false, func(t *testing.T, w *world) {
		w.step(1)
		added := w.apps[0]
		added.Name, added.DestinationNamespace = "web-prod-us", "web-prod-us"
		w.apps = append(w.apps, added)
		w.step(settled)
		if o := w.last(); o.Key.Name != "web-prod-us" || o.Sync != promotion.OutOfSync || o.Health != promotion.Missing || o.Revision != "" {
			t.Errorf("an overlay added later is synced by hand: %+v", o)
		}
		if got := w.cluster.Applications(); len(got) != 2 || got[1].Name != "web-prod-us" {
			t.Errorf("applications: %v", got)
		}
		w.apps = w.apps[1:]
		w.step(2)
		gone := slices.ContainsFunc(w.observed(), func(o promotion.Observation) bool {
			return o.Key.Name == "web-prod" && o.Health == promotion.Missing && o.Message == "The Argo CD Application is gone."
		})
		left, err := w.simulation.Client().Resource(pods).List(t.Context(), metav1.ListOptions{})
		if !gone || err != nil || len(left.Items) != 0 {
			t.Errorf("an overlay that was removed: told gone %v, %d pods left (%v)", gone, len(left.Items), err)
		}
	})
}

func TestObserveIsTriedAgainAndNotRepeated(t *testing.T) {
	inWorld(t, true, func(t *testing.T, w *world) {
		w.refuse = errors.New("the database is away")
		w.step(1)
		if len(w.observed()) != 0 {
			t.Fatal("nothing can have been told")
		}
		w.mu.Lock()
		w.refuse = nil
		w.mu.Unlock()
		w.wait(time.Minute) // longer than any pause between attempts
		if o := w.last(); !live(o, commit(1), "1.0.0") {
			t.Fatalf("told at last: %+v", o)
		}
		told := len(w.observed())
		w.step(settled)
		if got := len(w.observed()); got != told {
			t.Errorf("nothing changed and %d more were told", got-told)
		}
		if err := w.cluster.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := len(w.observed()); got != told+1 {
			t.Errorf("a look told %d, want 1", got-told)
		}
	})
}
