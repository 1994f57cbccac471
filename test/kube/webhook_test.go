//go:build peers

package kube_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var mutatingWebhooks = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"}

// admissionHook is a webhook of the cluster: it gives Deployments a sidecar, and refuses ConfigMaps that are called unsigned.
type admissionHook struct{ *httptest.Server }

// mutates serves one over TLS until the test ends. It is asked nothing before it is put in a namespace's way.
func (w *world) mutates() admissionHook {
	server := httptest.NewTLSServer(http.HandlerFunc(review))
	w.Cleanup(server.Close)
	return admissionHook{server}
}

func review(w http.ResponseWriter, r *http.Request) {
	var asked unstructured.Unstructured
	if err := json.NewDecoder(r.Body).Decode(&asked.Object); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	request, _ := asked.Object["request"].(map[string]any)
	object, _ := request["object"].(map[string]any)
	answer := map[string]any{"uid": request["uid"], "allowed": true}
	switch name, _, _ := unstructured.NestedString(object, "metadata", "name"); object["kind"] {
	case "ConfigMap":
		answer["allowed"], answer["status"] = name != "unsigned", map[string]any{"message": "it is not signed"}
	case "Deployment":
		containers, _, _ := unstructured.NestedSlice(object, "spec", "template", "spec", "containers")
		if !strings.Contains(fmt.Sprint(containers), "mesh:1") {
			patch := `[{"op":"add","path":"/spec/template/spec/containers/-","value":{"name":"mesh","image":"registry.example.test/mesh:1"}}]`
			answer["patchType"], answer["patch"] = "JSONPatch", base64.StdEncoding.EncodeToString([]byte(patch))
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": answer}) //nolint:errcheck // the API server may have gone
}

// in puts the webhook in a namespace's way and waits until it is asked.
func (h admissionHook) in(w *world, namespace string) {
	w.Helper()
	w.createNamespace(namespace)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw})
	w.apply(fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: %[1]s}
webhooks:
- name: mesh.example.test
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  clientConfig: {url: "%[2]s", caBundle: %[3]s}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
  rules:
  - {apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE, UPDATE]}
  - {apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE, UPDATE]}
`, namespace, h.URL, base64.StdEncoding.EncodeToString(certificate)))
	w.refuses(namespace, "unsigned", nil, "it is not signed")
}
