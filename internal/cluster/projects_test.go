package cluster_test

import (
	"strings"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluicehq/sluice/internal/cluster"
)

func TestAnOperationThatAWindowHoldsBackIsTerminated(t *testing.T) {
	t.Parallel()
	const blocked = "Sync operation blocked by sync window"
	ours := `{info: [{name: sluice-promotion, value: "7"}], sync: {revision: ` + merge + `}}`
	for name, test := range map[string]struct{ operation, phase, message, becomes string }{
		"Sluice's, held back":     {ours, "Running", blocked, "Terminating"},
		"somebody else's":         {`{initiatedBy: {username: bob}, sync: {revision: ` + merge + `}}`, "Running", blocked, "Running"},
		"Sluice's, being applied": {ours, "Running", "waiting for healthy state of apps/Deployment/web", "Running"},
		"Sluice's, that has run":  {ours, "Succeeded", blocked, "Succeeded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := apiServer(t, webProd+"operation: "+test.operation+"\nstatus: {operationState: {phase: "+test.phase+", message: "+test.message+"}}\n")
				watch(t, client)
				app, err := client.Resource(cluster.Applications).Namespace("argocd").Get(t.Context(), "web-prod", metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if phase, _, _ := unstructured.NestedString(app.Object, "status", "operationState", "phase"); phase != test.becomes {
					t.Errorf("the operation is %s, want %s", phase, test.becomes)
				}
			})
		})
	}
}

func TestProjects(t *testing.T) {
	t.Parallel()
	client := apiServer(t, `
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: shop, namespace: argocd}
spec: {syncWindows: [{kind: deny, schedule: "0 22 * * *", duration: 8h, applications: ["*"]}]}
`)
	all, err := cluster.New(cluster.Options{Name: "prod-eu", Client: client}).Projects(t.Context())
	if err != nil || len(all) != 1 || !strings.Contains(string(all[0]), `"0 22 * * *"`) {
		t.Errorf("projects are %s (%v)", all, err)
	}
}
