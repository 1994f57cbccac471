package cluster_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/sluicehq/sluice/internal/cluster"
	"github.com/sluicehq/sluice/internal/health"
	"github.com/sluicehq/sluice/internal/promotion"
)

// crashing is web-prod with a pod whose container has crashed so many times.
const crashingPod = `
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: "%s"}]}
spec: {containers: [{name: web, image: example/web:2}]}
status:
  containerStatuses:
  - {name: web, image: example/web:2, imageID: "example/web@sha256:bb", ready: false, restartCount: 1, state: {waiting: {reason: CrashLoopBackOff}},
     lastState: {terminated: {exitCode: 3, reason: Error}}}
`

// crashes watches web-prod crash, and gives what was told last, and a way to crash it once more.
func crashes(t *testing.T, output func(context.Context, health.Crash) (string, error)) (last func() promotion.Observation, again func()) {
	t.Helper()
	client := apiServer(t, webProd+"status: {sync: {status: Synced}, resources: [{group: apps, kind: StatefulSet, namespace: shop, name: web}]}\n")
	set := create(t, client, "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 1}\n")
	create(t, client, fmt.Sprintf(crashingPod, set.GetUID()))
	seen := &told{}
	run(t, cluster.New(cluster.Options{Name: "prod-eu", Client: client, Now: time.Now, Observe: seen.observe, Output: output, Log: slog.New(slog.DiscardHandler)}))
	synctest.Wait()
	last = func() promotion.Observation {
		about := seen.about("web-prod")
		return about[len(about)-1]
	}
	return last, func() {
		pods := client.Resource(cluster.Pods).Namespace("shop")
		pod, err := pods.Get(t.Context(), "web-0", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		statuses, _, _ := unstructured.NestedSlice(pod.Object, "status", "containerStatuses")
		statuses[0].(map[string]any)["restartCount"] = int64(2)
		if err := unstructured.SetNestedSlice(pod.Object, statuses, "status", "containerStatuses"); err != nil {
			t.Fatal(err)
		}
		if _, err := pods.Update(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
	}
}

func TestWhatACrashWroteLastIsTold(t *testing.T) {
	t.Parallel()
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web-0", nil)
	for name, test := range map[string]struct {
		output string
		err    error
		want   promotion.LastEnd
	}{
		"its last lines":                  {"starting\npanic: boom\n", nil, promotion.LastEnd{ExitCode: 3, Log: "starting\npanic: boom"}},
		"nothing":                         {"", nil, promotion.LastEnd{ExitCode: 3}},
		"a credential":                    {"dial postgres://app:s3cr3t@db\npanic: boom", nil, promotion.LastEnd{ExitCode: 3, Log: "(hidden)\npanic: boom"}},
		"more than 20 lines":              {strings.Repeat("old\n", 5) + strings.Repeat("new\n", 20), nil, promotion.LastEnd{ExitCode: 3, Log: strings.TrimSuffix(strings.Repeat("new\n", 20), "\n")}},
		"a long line":                     {strings.Repeat("x ", 300), nil, promotion.LastEnd{ExitCode: 3, Log: strings.Repeat("x ", 250) + "…"}},
		"a cut credential":                {"password=" + strings.Repeat("s", 600), nil, promotion.LastEnd{ExitCode: 3, Log: "(hidden)"}},
		"too many long lines":             {strings.Repeat(strings.Repeat("x ", 249)+".\n", 20), nil, promotion.LastEnd{ExitCode: 3, Log: strings.TrimSuffix(strings.Repeat(strings.Repeat("x ", 249)+".\n", 8), "\n")}},
		"cut off in the middle of a line": {"whole\n" + strings.Repeat("x", 64<<10), nil, promotion.LastEnd{ExitCode: 3, Log: "whole"}},
		"it may not be read":              {"", forbidden, promotion.LastEnd{ExitCode: 3, Unread: "Sluice may not read logs here. Apply deploy/kubernetes/logs.yaml to have its last lines shown."}},
		"it is gone":                      {"", apierrors.NewBadRequest("previous terminated container not found"), promotion.LastEnd{ExitCode: 3, Unread: "The node has no log of it any more."}},
		"it takes too long":               {"", context.DeadlineExceeded, promotion.LastEnd{ExitCode: 3, Unread: "The cluster did not give its log in time."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				last, _ := crashes(t, func(context.Context, health.Crash) (string, error) { return test.output, test.err })
				o := last()
				if len(o.RunningImages) != 1 || o.RunningImages[0].Ended != test.want {
					t.Errorf("told %+v, want %+v", o.RunningImages, test.want)
				}
				if !strings.Contains(o.Message, "crashes again and again (exit code 3)") {
					t.Errorf("the diagnosis is %q", o.Message)
				}
			})
		})
	}
}

func TestEachCrashIsReadOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var times atomic.Int32
		last, again := crashes(t, func(_ context.Context, c health.Crash) (string, error) {
			if c.Namespace != "shop" || c.Pod != "web-0" || c.Container != "web" || !c.Previous {
				t.Errorf("asked about %+v", c)
			}
			return fmt.Sprintf("crash %d", times.Add(1)), nil
		})
		before := last()
		time.Sleep(5 * time.Minute) // each minute everything is looked at
		if times.Load() != 1 || before.RunningImages[0].Ended.Log != "crash 1" {
			t.Errorf("read %d times: %+v", times.Load(), before.RunningImages)
		}
		again()
		if now := last(); times.Load() != 2 || now.RunningImages[0].Ended.Log != "crash 2" || now.Message != before.Message {
			t.Errorf("read %d times: %+v", times.Load(), now)
		}
	})
}

func TestLogsAreAskedFor(t *testing.T) {
	t.Parallel()
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		_, _ = w.Write([]byte("panic: boom\n"))
	}))
	defer server.Close()
	client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	output, err := cluster.Logs(client.RESTClient())(t.Context(), health.Crash{Namespace: "shop", Pod: "web-0", Container: "web", Previous: true})
	want := "/api/v1/namespaces/shop/pods/web-0/log?container=web&limitBytes=65536&previous=true&tailLines=20"
	if err != nil || output != "panic: boom\n" || !strings.HasPrefix(asked, want) {
		t.Errorf("asked for %s (%v), got %q", asked, err, output)
	}
}
