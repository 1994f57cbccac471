//go:build peers

package kube_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/webhook"
)

// heard keeps what the audit of the real API server says.
type heard struct {
	mu  sync.Mutex
	all []promotion.AuditedWrite
}

func (h *heard) LiveWritten(_ context.Context, _ string, all []promotion.AuditedWrite) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, all...)
	return nil
}

// by are the writes to a Deployment by somebody.
func (h *heard) by(user, name string) []promotion.AuditedWrite {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []promotion.AuditedWrite
	for _, o := range h.all {
		if o.As == user && o.Ref.Name == name {
			all = append(all, o)
		}
	}
	return all
}

// String is all that was heard.
func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return fmt.Sprintf("%+v", h.all)
}

// documented is a file of docs/set-up.md, found by its first line.
func documented(t *testing.T, first string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/set-up.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "```yaml\n"+first)
	if !found {
		t.Fatalf("docs/set-up.md has no %s", first)
	}
	file, _, _ := strings.Cut(after, "```")
	return first + file
}

// The policy and the webhook that the documentation shows make a real API server name who wrote to a live object.
func TestTheAuditOfARealAPIServer(t *testing.T) {
	h := &heard{}
	door := httptest.NewTLSServer(webhook.NewAudit(map[string]func() (string, error){"prod-eu": func() (string, error) { return "a-token", nil }}, h, slog.New(slog.DiscardHandler)))
	t.Cleanup(door.Close)
	w := newWorldWith(t, func(w *world) {
		dir := t.TempDir()
		write := func(name, text string) string {
			w.must(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			return filepath.Join(dir, name)
		}
		hook := strings.NewReplacer("server: https://sluice.example.com", "insecure-skip-tls-verify: true, server: "+door.URL, "THE-TOKEN", "a-token").Replace(documented(t, "# webhook"))
		w.kube.Further = []string{"--audit-policy-file", write("policy.yaml", documented(t, "# audit policy")), "--audit-webhook-config-file", write("webhook.yaml", hook),
			"--audit-webhook-mode=batch", "--audit-webhook-batch-max-wait=1s"}
		w.kube.StopAPIServer()
		w.must(w.kube.StartAPIServer(w.Context()))
	}, nil)
	w.healthy("shop", web(""))

	as := rest.CopyConfig(w.kube.Config)
	as.Impersonate, as.UserAgent = rest.ImpersonationConfig{UserName: "ada", Groups: []string{"system:masters"}}, "kubectl/v1.36.0"
	ada, err := dynamic.NewForConfig(as)
	w.must(err)
	webs := ada.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}).Namespace("shop")
	scale := []byte(`{"spec": {"replicas": 3}}`)
	_, err = webs.Patch(w.Context(), "web", types.MergePatchType, scale, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
	w.must(err)
	_, err = webs.Get(w.Context(), "web", metav1.GetOptions{})
	w.must(err)
	_, err = webs.Patch(w.Context(), "web", types.MergePatchType, scale, metav1.PatchOptions{}, "scale")
	w.must(err)
	w.eventually("the audit names ada", func() (bool, string) {
		all := h.by("ada", "web")
		return len(all) > 0, h.String()
	})
	all := h.by("ada", "web")
	if o := all[0]; len(all) != 1 || o.User != "admin" || o.Verb != "patch" || !strings.HasPrefix(o.Agent, "kubectl/") || o.Source != "127.0.0.1" || o.ID == "" || o.At.IsZero() {
		t.Errorf("it says %+v", all)
	}
	if object, err := w.cluster.Followed(all[0].Ref); err != nil || object != "Deployment.apps shop/web" {
		t.Errorf("the object is %q (%v)", object, err)
	}
	for _, o := range h.all {
		if strings.HasPrefix(o.User, "system:serviceaccount:") || o.User == "system:kube-controller-manager" {
			t.Errorf("the policy lets %s through", o.User)
		}
	}
}
