package scenario_test

import (
	"errors"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// consists is what deployments consist of: Deployments in the namespace shop.
type consists struct{ unseen bool }

func (c consists) Followed(r promotion.LiveRef) (string, error) {
	switch {
	case c.unseen:
		return "", errors.New("its Applications are not seen yet")
	case r.Group != "apps" || r.Resource != "deployments" || r.Namespace != "shop":
		return "", nil
	}
	return "Deployment.apps shop/" + r.Name, nil
}

// audits has the audit of the cluster tell of writes to Deployment web.
func (w *world) audits(all ...promotion.AuditedWrite) {
	w.Helper()
	w.must(w.service.LiveWritten(w.Context(), clusterName, all))
}

func wrote(id, user string, at time.Time) promotion.AuditedWrite {
	return promotion.AuditedWrite{ID: id, Ref: promotion.LiveRef{Group: "apps", Resource: "deployments", Namespace: "shop", Name: "web"},
		LiveWrite: promotion.LiveWrite{User: user, Verb: "patch", Agent: "kubectl/v1.36.0", Source: "10.0.0.7", At: at}}
}

// named are the people whom the audit names for what drifts first.
func (w *world) named() string {
	w.Helper()
	names := ""
	for _, o := range w.drifts("prod", true)[0].Written {
		names += o.User + ";"
	}
	return names
}

func TestTheAuditNamesWhoIsBehindALiveChange(t *testing.T) {
	w := newProdWorld(t)
	i := w.inspected()
	w.service.LiveObjects = map[string]promotion.LiveObjects{clusterName: consists{}}
	w.sees("web", "prod", synced(w.clone().Remote("main")), healthy)
	w.compares("prod")

	edit := w.clock.now()
	edited := scaled("5")
	edited.Manager, edited.OwnedAt = "kubectl-edit", edit.Truncate(time.Second)
	i.found.Differences = []promotion.Drift{edited}
	w.audits(wrote("before", "ada", edit))
	w.pass(30 * time.Second)
	w.compares("prod")
	same(w, "named by what came before", w.named(), "ada;")
	first := w.drifts("prod", true)[0].Written[0]
	same(w, "with", first.Agent+" from "+first.Source+" "+first.Verb, "kubectl/v1.36.0 from 10.0.0.7 patch")
	same(w, "at", first.At.Equal(edit), true)

	w.audits(wrote("before", "ada", edit), wrote("after", "bob", edit.Add(-time.Minute)), wrote("after", "bob", edit.Add(-time.Minute)))
	same(w, "named by what comes after, and sent again", w.named(), "ada;bob;")
	same(w, "kept", len(w.texts("SELECT audit_id FROM live_writes")), 2)

	// Carl edits another field with the same program: that moves the date of every field it owns.
	w.pass(10 * time.Minute)
	other := edited
	edited.OwnedAt, other.OwnedAt, other.Path, other.Have = w.clock.now().Truncate(time.Second), w.clock.now().Truncate(time.Second), "spec.paused", "true"
	i.found.Differences = []promotion.Drift{edited, other}
	w.audits(wrote("third", "carl", w.clock.now()))
	for _, d := range w.compares("prod") {
		want := "ada"
		if d.Path == other.Path {
			want = "carl"
		}
		same(w, "named for "+d.Path, d.Written[0].User, want)
	}
}

func TestTheAuditKeepsPeopleAndWhatIsFollowedAlone(t *testing.T) {
	w := newProdWorld(t)
	w.service.LiveObjects = map[string]promotion.LiveObjects{clusterName: consists{}}
	now := w.clock.now()
	as := func(id, user, as string) promotion.AuditedWrite {
		o := wrote(id, user, now)
		o.As = as
		return o
	}
	elsewhere := wrote("elsewhere", "ada", now)
	elsewhere.Ref.Namespace = "other"
	secret := wrote("secret", "ada", now)
	secret.Ref.Resource = "secrets"
	w.audits(elsewhere, secret,
		as("argocd", "system:serviceaccount:argocd:argocd-application-controller", ""),
		as("controller", "system:kube-controller-manager", ""),
		as("node", "system:node:one", ""),
		as("nobody", "", ""),
		as("account-as-account", "system:serviceaccount:a:b", "system:serviceaccount:c:d"),
		as("ada", "ada", ""),
		as("admin", "system:admin", ""),
		as("dashboard", "system:serviceaccount:dash:board", "bob"),
		as("sudo", "ada", "system:serviceaccount:argocd:argocd-server"))
	got := w.texts("SELECT audit_id || ': ' || username FROM live_writes ORDER BY audit_id")
	want := []string{"ada: ada", "admin: system:admin", "dashboard: bob", "sudo: ada, as system:serviceaccount:argocd:argocd-server"}
	same(w, "how many", len(got), len(want))
	for i := range want {
		same(w, "kept", got[i], want[i])
	}

	w.pass(91 * 24 * time.Hour)
	w.audits(wrote("much later", "ada", w.clock.now()))
	same(w, "kept after a quarter of a year", len(w.texts("SELECT audit_id FROM live_writes")), 1)

	w.service.LiveObjects[clusterName] = consists{unseen: true}
	if w.service.LiveWritten(w.Context(), clusterName, []promotion.AuditedWrite{wrote("early", "ada", now)}) == nil {
		t.Error("what cannot be told yet is to be sent again")
	}
	if w.service.LiveWritten(w.Context(), "another", nil) == nil {
		t.Error("a cluster that is not connected is none")
	}
}
