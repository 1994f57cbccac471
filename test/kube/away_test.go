//go:build peers

package kube_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/sluicehq/sluice/test/peers/realkube"
)

// A lost watch is not mended before what happened meanwhile is known, also when the API server can no longer tell the changes.
func TestWhatHappensBehindACutWireIsNeverHealthy(t *testing.T) {
	t.Parallel()
	line := &wire{TB: t}
	w := newWorld(t, line.through)
	w.healthy("shop", web(""))
	line.set(true)
	cut := time.Now()
	w.becomes("shop", "Unknown", "Unknown", "Cluster real cannot be watched since")

	w.kubelet.In("shop", func(string) realkube.Fate { return realkube.Fate{Exit: 7} })
	w.runsUnready("shop")
	w.kube.StopAPIServer()
	w.must(w.kube.Compact(w.Context()))
	w.must(w.kube.StartAPIServer(w.Context()))
	line.set(false)
	w.becomes("shop", "Synced", "Progressing", "exit code 7")
	w.neverHealthySince("shop", cut)

	w.kubelet.In("shop", func(string) realkube.Fate { return realkube.Fate{} })
	w.becomes("shop", "Synced", "Healthy")
}

func TestAnAPIServerThatIsGoneIsUnknownUntilItIsBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.healthy("shop", web(""))
	gone := time.Now()
	w.kube.StopAPIServer()
	w.becomes("shop", "Unknown", "Unknown", "Cluster real cannot be watched since")
	back := time.Now()
	w.must(w.kube.StartAPIServer(w.Context()))
	w.becomes("shop", "Synced", "Healthy")
	w.unknownBetween("shop", gone, back)
}

func TestAnAPIServerThatDoesNotAnswerIsUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.healthy("shop", web(""))
	frozen := time.Now()
	w.must(w.kube.Freeze())
	w.becomes("shop", "Unknown", "Unknown", "does not answer within 5s")
	thawed := time.Now()
	w.must(w.kube.Thaw())
	w.becomes("shop", "Synced", "Healthy")
	w.unknownBetween("shop", frozen, thawed)
}

func TestATokenThatExpiresIsSaidAndANewOneIsTaken(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	w := newWorldWith(t, func(w *world) { w.issueToken(file) }, func(config *rest.Config) {
		config.BearerToken, config.BearerTokenFile = "", file
	})
	w.healthy("shop", web(""))
	w.delete(serviceAccounts, "default", "sluice")
	w.becomes("shop", "Unknown", "Unknown", "does not accept Sluice's credentials", "Renew the token")
	w.issueToken(file)
	w.becomes("shop", "Synced", "Healthy")
}

var serviceAccounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}

// issueToken gives Sluice's account, which may read everything, a token.
func (w *world) issueToken(file string) {
	w.Helper()
	w.apply("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: sluice, namespace: default}\n" +
		"---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: sluice}\nrules: [{apiGroups: ['*'], resources: ['*'], verbs: [get, list, watch]}]\n" +
		"---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: sluice}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: sluice}\n" +
		"subjects: [{kind: ServiceAccount, name: sluice, namespace: default}]\n")
	request := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
		"metadata": map[string]any{"name": "sluice"}, "spec": map[string]any{}}}
	issued, err := w.kube.Client.Resource(serviceAccounts).Namespace("default").Create(w.Context(), request, metav1.CreateOptions{}, "token")
	w.must(err)
	token, _, err := unstructured.NestedString(issued.Object, "status", "token")
	w.must(err)
	w.must(os.WriteFile(file, []byte(token), 0o600))
}

// runsUnready waits until the cluster itself knows that no pod of web is ready.
func (w *world) runsUnready(namespace string) {
	w.Helper()
	at := w.kube.Client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}).Namespace(namespace)
	w.eventually("no pod is ready", func() (bool, string) {
		d, err := at.Get(w.Context(), "web", metav1.GetOptions{})
		w.must(err)
		ready, _, _ := unstructured.NestedInt64(d.Object, "status", "readyReplicas") //nolint:errcheck // a number, or not there
		return ready == 0, d.GetResourceVersion()
	})
}

// neverHealthySince fails when the recorded history knows a healthy moment after this one.
func (w *world) neverHealthySince(name string, moment time.Time) {
	w.Helper()
	for _, s := range w.history(name) {
		if s.health == "Healthy" && s.to.After(moment) {
			w.Errorf("recorded as healthy from %s to %s although nothing could be seen since %s", s.from, s.to, moment)
		}
	}
}

// unknownBetween fails when the recorded history holds anything but unknown in a stretch.
func (w *world) unknownBetween(name string, from, to time.Time) {
	w.Helper()
	for _, s := range w.history(name) {
		if s.health != "Unknown" && s.to.After(from) && s.from.Before(to) {
			w.Errorf("recorded as %s and %s from %s to %s, within %s to %s", s.sync, s.health, s.from, s.to, from, to)
		}
	}
}
