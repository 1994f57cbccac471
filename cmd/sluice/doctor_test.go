package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// answeringCluster is an API server that serves Argo CD's kinds and nothing else of the sort, and allows what allow says.
func answeringCluster(t *testing.T, allow func(verb, resource string) bool) string {
	t.Helper()
	answer := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(text)) //nolint:errcheck // the client notices
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", answer(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`))
	mux.HandleFunc("/version", answer(`{"major":"1","minor":"36","gitVersion":"v1.36.3"}`))
	mux.HandleFunc("/api", answer(`{"kind":"APIVersions","versions":["v1"]}`))
	mux.HandleFunc("/apis", answer(`{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"argoproj.io","versions":[{"groupVersion":"argoproj.io/v1alpha1","version":"v1alpha1"}]}]}`))
	mux.HandleFunc("/apis/argoproj.io/v1alpha1", answer(`{"kind":"APIResourceList","groupVersion":"argoproj.io/v1alpha1","resources":[{"name":"applications","kind":"Application","namespaced":true}]}`))
	mux.HandleFunc("/apis/argoproj.io/v1alpha1/applications", answer(`{"kind":"ApplicationList","apiVersion":"argoproj.io/v1alpha1","items":[]}`))
	mux.HandleFunc("/apis/authentication.k8s.io/v1/selfsubjectreviews", answer(
		`{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1","status":{"userInfo":{"username":"system:serviceaccount:sluice:sluice"}}}`))
	mux.HandleFunc("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Spec struct {
				ResourceAttributes struct{ Verb, Resource string }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			t.Error(err)
		}
		may := allow(q.Spec.ResourceAttributes.Verb, q.Spec.ResourceAttributes.Resource)
		answer(fmt.Sprintf(`{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","status":{"allowed":%v}}`, may))(w, r)
	})
	const policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/sluice-writes-only-dry-run"
	mux.HandleFunc(policies, answer(`{"kind":"ValidatingAdmissionPolicy","apiVersion":"admissionregistration.k8s.io/v1","metadata":{"name":"x"},"spec":{"failurePolicy":"Fail",
		"matchConditions":[{"expression":"request.userInfo.username == \"system:serviceaccount:sluice:sluice\""}]}}`))
	mux.HandleFunc(strings.Replace(policies, "policies", "policybindings", 1), answer(`{"kind":"ValidatingAdmissionPolicyBinding","apiVersion":"admissionregistration.k8s.io/v1",
		"metadata":{"name":"x"},"spec":{"policyName":"sluice-writes-only-dry-run","validationActions":["Deny"]}}`))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// doctor runs the command on clusters at these addresses.
func doctor(t *testing.T, addresses []string, args ...string) (out string, code int) {
	t.Helper()
	dir := t.TempDir()
	text := "database: {url: postgres://nobody@localhost/none}\nconfig_repositories: [{name: own, host: built-in}]\nclusters:\n"
	for i, address := range addresses {
		file := filepath.Join(dir, fmt.Sprint("kubeconfig", i))
		kubeconfig := fmt.Sprintf("clusters: [{name: it, cluster: {server: %q}}]\ncontexts: [{name: it, context: {cluster: it}}]\ncurrent-context: it\n", address)
		if err := os.WriteFile(file, []byte(kubeconfig), 0o600); err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf("- {name: c%d, kubeconfig: %s}\n", i, file)
	}
	file := filepath.Join(dir, "sluice.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd, printed := newDoctorCommand(), &strings.Builder{}
	cmd.SetOut(printed)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetArgs(append([]string{"--config", file}, args...))
	err := cmd.ExecuteContext(t.Context())
	var exit *exitError
	if errors.As(err, &exit) {
		code = exit.Code
	} else if err != nil {
		t.Fatal(err)
	}
	return printed.String(), code
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	all := answeringCluster(t, func(string, string) bool { return true })
	some := answeringCluster(t, func(verb, resource string) bool { return resource != "secrets" && verb != "update" })
	const gone = "http://127.0.0.1:1"
	for name, c := range map[string]struct {
		clusters []string
		args     []string
		code     int
		says     []string
	}{
		"everything":        {[]string{all}, nil, 0, []string{"cluster c0", "v1.36.3", "as system:serviceaccount:sluice:sluice", "Argo CD", "v1alpha1", "guarded"}},
		"something missing": {[]string{some}, nil, 1, []string{"update applications.argoproj.io", "not in argocd. Apply deploy/kubernetes/sync.yaml", "get secrets", "rollback verdicts"}},
		"a cluster is away": {[]string{all, gone}, nil, 1, []string{"cluster c0", "cluster c1", "unknown", "connection refused"}},
		"one of them":       {[]string{all, gone}, []string{"--cluster", "c0"}, 0, []string{"cluster c0"}},
		"none of them":      {[]string{all}, []string{"--cluster", "c7"}, 2, nil},
		"no such output":    {[]string{all}, []string{"-o", "xml"}, 2, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, code := doctor(t, c.clusters, c.args...)
			if code != c.code {
				t.Errorf("exit status %d, want %d:\n%s", code, c.code, out)
			}
			for _, says := range c.says {
				if !strings.Contains(out, says) {
					t.Errorf("%q is not said:\n%s", says, out)
				}
			}
		})
	}
}

func TestDoctorInJSON(t *testing.T) {
	t.Parallel()
	some := answeringCluster(t, func(verb, resource string) bool { return resource != "subjectaccessreviews" })
	out, code := doctor(t, []string{some}, "-o", "json")
	var answers []clusterAnswer
	if err := json.Unmarshal([]byte(out), &answers); err != nil || len(answers) != 1 || code != 0 {
		t.Fatalf("%v, exit status %d:\n%s", err, code, out)
	}
	a := answers[0]
	last := a.Rights[len(a.Rights)-1]
	if !a.Healthy || a.Guarded.State != "yes" || last.Resource != "subjectaccessreviews" || last.State != "no" || last.Next == "" || last.Needed {
		t.Errorf("the answer is %+v", a)
	}
}
