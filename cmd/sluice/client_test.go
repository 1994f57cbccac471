package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/api"
)

var (
	someDigest = "sha256:" + strings.Repeat("ab", 32)
	someCommit = strings.Repeat("c0", 20)
	someID     = int64(3)
	someNumber = 2
	someTime   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// fakeServer answers every request with one value and remembers the last request.
type fakeServer struct {
	status      int
	answer      any
	method, uri string
	token, body string
}

func (s *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.method, s.uri, s.token, s.body = r.Method, r.RequestURI, r.Header.Get("Authorization"), string(body)
	contentType := "application/json"
	if s.status >= 300 {
		contentType = "application/problem+json"
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(s.status)
	if s.status != http.StatusNoContent {
		_ = json.NewEncoder(w).Encode(s.answer)
	}
}

// invoke runs a command against the server and returns what it prints and its exit status.
func (s *fakeServer) invoke(t *testing.T, cmd *cobra.Command, args ...string) (out string, status int, err error) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	var stdout bytes.Buffer
	cmd.SetOut(&stdout)
	cmd.SetArgs(append(args, "--server", server.URL))
	err = cmd.ExecuteContext(t.Context())
	var exit *exitError
	switch {
	case errors.As(err, &exit):
		status = exit.Code
	case err != nil:
		status = 1
	}
	return stdout.String(), status, err
}

var promotionAnswer = api.Promotion{ID: 12, Application: "web", Environment: "prod", State: api.PromotionStateOpen, Release: &someID, ReleaseNumber: &someNumber,
	Version: "1.4.2", RequestedBy: "rita", RequestedAt: someTime, WaitsFor: "1 approval is missing",
	PullRequest: &api.PullRequest{Number: 4, URL: "https://git.test/config/pulls/4", State: api.PullRequestStateOpen},
	Gates: []api.Gate{
		{Name: "renders", Verdict: api.GateVerdictPass, Mode: api.GateModeEnforce, Reason: "one field"},
		{Name: "branch-protected", Verdict: api.GateVerdictBlock, Mode: api.GateModeReport, Reason: "main is not protected"},
	}}

const promotionText = `promotion 12      open
release           web 1.4.2 (number 2, id 3) to prod
requested         by rita at 2026-03-01 12:00:00Z
pull request      https://git.test/config/pulls/4
renders           pass: one field
branch-protected  block (report): main is not protected
now               1 approval is missing
`

func TestBuildPost(t *testing.T) {
	t.Parallel()
	s := &fakeServer{status: 201, answer: api.Build{ID: 7, Version: "1.4.2", Source: api.Source{Commit: someCommit},
		Releases: []api.Release{{ID: 3, Application: "web", Number: 2, Version: "1.4.2", RebuildOf: 2, Artifacts: []api.Artifact{
			{Name: "web", Reference: "r.test/web@" + someDigest}, {Name: "sidecar", Reference: "r.test/sidecar:v1", CarriedFrom: 1}},
			Charts: []api.ReleaseChart{{Name: "web", Version: "2.0.1"}, {Name: "redis", Version: "1.0.0", CarriedFrom: 1}}}},
		Promotions: []api.PromotionSummary{{ID: 11, Application: "web", Environment: "dev", State: api.PromotionStateRequested}},
		WaitingFor: []string{"worker"}}}
	out, status, err := s.invoke(t, newBuildCommand(), "post", "--application", "web", "--version", "1.4.2", "--line", "1.4",
		"--artifact", "r.test/web@"+someDigest, "--artifact", "r.test/worker@"+someDigest, "--group", "ci-88", "--expects", "web,worker",
		"--source-repository", "https://git.test/web", "--source-commit", someCommit, "--source-ref", "refs/heads/main", "--source-author", "ada@example.com",
		"--ci-provider", "jenkins", "--ci-run-url", "https://ci.test/88", "--token", "sluice_x", "--chart", "web=2.0.1",
		"--attest", "messages=compatible:1.4.0", "--attest", "caches=incompatible:keys are hashed now: old ones are not")
	if status != 0 {
		t.Fatal(err)
	}
	var sent api.BuildRequest
	if err := json.Unmarshal([]byte(s.body), &sent); err != nil {
		t.Fatal(err)
	}
	want := api.BuildRequest{Application: "web", Version: "1.4.2", Line: "1.4", Group: "ci-88", Expects: []string{"web", "worker"},
		Artifacts: []api.BuildArtifact{{Repository: "r.test/web", Digest: someDigest}, {Repository: "r.test/worker", Digest: someDigest}},
		Charts:    []api.BuildChart{{Name: "web", Version: "2.0.1"}},
		Attestations: []api.BuildAttestation{{Subject: api.AttestationSubjectMessages, Verdict: api.AttestationVerdictCompatible, Since: "1.4.0"},
			{Subject: api.AttestationSubjectCaches, Verdict: api.AttestationVerdictIncompatible, Summary: "keys are hashed now: old ones are not"}},
		Source: api.Source{Repository: "https://git.test/web", Commit: someCommit, Ref: "refs/heads/main", Authors: []string{"ada@example.com"}},
		CI:     api.CIRun{Provider: "jenkins", RunURL: "https://ci.test/88"}}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	if s.uri != "/api/v1/builds" || s.token != "Bearer sluice_x" {
		t.Errorf("%s %s with %q", s.method, s.uri, s.token)
	}
	text := `build 7       1.4.2    commit ` + someCommit + `
release 3     web      number 2, 1.4.2
image         web      r.test/web@` + someDigest + `
image         sidecar  r.test/sidecar:v1 (carried forward from release 1)
chart         web      2.0.1
chart         redis    1.0.0 (carried forward from release 1)
rebuild       web      of release 2 with other digests: no evidence is inherited
promotion 11  web      dev: requested
waits for     worker   no release yet
`
	if diff := cmp.Diff(text, out); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}

func TestPromoteAndApprove(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		cmd       *cobra.Command
		args      []string
		uri, body string
	}{
		{"promote", newPromoteCommand(), []string{"--application", "web", "--environment", "prod", "--release", "1.4.2", "--reason", "fix"},
			"/api/v1/promotions", `{"application":"web","environment":"prod","reason":"fix","release":"1.4.2"}`},
		{"approve", newApproveCommand(), []string{"12", "--comment", "read"},
			"/api/v1/promotions/12/approvals", `{"comment":"read","decision":"approve"}`},
		{"reject", newApproveCommand(), []string{"12", "--reject", "--comment", "no"},
			"/api/v1/promotions/12/approvals", `{"comment":"no","decision":"reject"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &fakeServer{status: 200, answer: promotionAnswer}
			out, status, err := s.invoke(t, tt.cmd, tt.args...)
			if status != 0 {
				t.Fatal(err)
			}
			if s.method != http.MethodPost || s.uri != tt.uri || s.body != tt.body {
				t.Errorf("sent %s %s %s", s.method, s.uri, s.body)
			}
			if diff := cmp.Diff(promotionText, out); diff != "" {
				t.Errorf("printed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	deployment := api.Deployment{Cluster: "eu", Version: "1.4.2", Sync: api.SyncStatusSynced, Health: api.HealthStatusDegraded, Since: someTime}
	s := &fakeServer{status: 200, answer: api.ApplicationList{Items: []api.Application{{Application: "web", Environments: []api.Environment{
		{Environment: "dev", RenderProblem: "no\x1b[2Jkustomization"},
		{Environment: "prod", Deployments: []api.Deployment{deployment}, Promotion: &promotionAnswer},
	}}}}}
	out, status, err := s.invoke(t, newStatusCommand(), "web")
	if status != 0 || s.uri != "/api/v1/applications?application=web" {
		t.Fatalf("%s: %v", s.uri, err)
	}
	want := `APPLICATION  ENVIRONMENT  CLUSTER  VERSION  SYNC    HEALTH    SINCE                 ON ITS WAY
web          dev          -        -        -       -         -                     does not render: no [2Jkustomization
web          prod         eu       1.4.2    Synced  Degraded  2026-03-01 12:00:00Z  promotion 12: 1.4.2, open. 1 approval is missing
`
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
	s.answer = api.ApplicationList{}
	if _, status, err := s.invoke(t, newStatusCommand(), "wbe"); status != 1 || !strings.Contains(err.Error(), "wbe") {
		t.Errorf("an unknown application: exit status %d, %v", status, err)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	to := someTime.Add(time.Hour)
	list := api.HistoryList{NextCursor: "MTI", Items: []api.HistoryEntry{
		{Application: "web", Environment: "prod", Cluster: "eu", Version: "1.4.2", Sync: api.SyncStatusSynced, Health: api.HealthStatusHealthy,
			From: to, RequestedBy: "rita", ApprovedBy: []string{"ada", "bo"}, MergedBy: "rita"},
		{Application: "web", Environment: "prod", Cluster: "eu", Sync: api.SyncStatusOutOfSync, Health: api.HealthStatusMissing, From: someTime, To: &to},
	}}
	s := &fakeServer{status: 200, answer: list}
	args := []string{"--application", "web", "--environment", "prod", "--at", "2026-03-01T12:30:00Z", "--limit", "2"}
	out, status, err := s.invoke(t, newHistoryCommand(), args...)
	if status != 0 || s.uri != "/api/v1/history?application=web&at=2026-03-01T12%3A30%3A00Z&environment=prod&limit=2" {
		t.Fatalf("%s: %v", s.uri, err)
	}
	want := `APPLICATION  ENVIRONMENT  CLUSTER  VERSION  SYNC       HEALTH   FROM                  TO                    REQUESTED BY  APPROVED BY  MERGED BY
web          prod         eu       1.4.2    Synced     Healthy  2026-03-01 13:00:00Z  now                   rita          ada, bo      rita
web          prod         eu       -        OutOfSync  Missing  2026-03-01 12:00:00Z  2026-03-01 13:00:00Z  -             -            -
older entries are left out: see --limit and --at
`
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
	out, _, _ = s.invoke(t, newHistoryCommand(), append(args, "-o", "json")...)
	var got api.HistoryList
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(list, got); diff != "" {
		t.Errorf("as JSON (-want +got):\n%s", diff)
	}
}

func TestRefusalIsExitStatusOne(t *testing.T) {
	t.Parallel()
	s := &fakeServer{status: 409, answer: api.Problem{Code: "not-open", Detail: "promotion 12 is merged: there is nothing left to decide"}}
	out, status, err := s.invoke(t, newApproveCommand(), "12")
	if status != 1 || out != "" || !strings.Contains(err.Error(), "promotion 12 is merged") {
		t.Errorf("exit status %d, %v, printed %q", status, err, out)
	}
}

func TestWrongUseIsExitStatusTwo(t *testing.T) {
	t.Parallel()
	post := []string{"post", "--version", "1", "--source-repository", "r", "--source-commit", "c"}
	missing := filepath.Join(t.TempDir(), "token")
	tests := []struct {
		name string
		cmd  *cobra.Command
		args []string
		says string
	}{
		{"no artifact", newBuildCommand(), post, "--artifact is missing"},
		{"a tag", newBuildCommand(), append(post, "--artifact", "r.test/web:1.4.2"), "no digest"},
		{"a chart without a version", newBuildCommand(), append(post, "--chart", "web"), "no version"},
		{"an attestation since nothing", newBuildCommand(), append(post, "--artifact", "r.test/web@"+someDigest, "--attest", "messages=compatible"), "OLDEST-VERSION"},
		{"an attestation of nothing", newBuildCommand(), append(post, "--artifact", "r.test/web@"+someDigest, "--attest", "messages"), "SUBJECT=compatible"},
		{"unknown flag", newBuildCommand(), append(post, "--app", "web"), "app"},
		{"no release", newPromoteCommand(), []string{"--application", "web", "--environment", "prod"}, "--release is missing"},
		{"no promotion", newApproveCommand(), nil, "approve PROMOTION"},
		{"no number", newApproveCommand(), []string{"web"}, "whole number"},
		{"reject without a reason", newApproveCommand(), []string{"12", "--reject"}, "--comment is missing"},
		{"no time", newHistoryCommand(), []string{"--at", "yesterday"}, "RFC 3339"},
		{"too many", newHistoryCommand(), []string{"--limit", "201"}, "200"},
		{"two names", newStatusCommand(), []string{"web", "api"}, "status [APPLICATION]"},
		{"other output", newStatusCommand(), []string{"-o", "yaml"}, "text or json"},
		{"two tokens", newStatusCommand(), []string{"--token", "a", "--token-file", "b"}, "not both"},
		{"no token file", newStatusCommand(), []string{"--token-file", missing}, missing},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &fakeServer{status: 200, answer: promotionAnswer}
			_, status, err := s.invoke(t, tt.cmd, tt.args...)
			if status != 2 || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("exit status %d, %v; want it to say %q", status, err, tt.says)
			}
			if s.method != "" {
				t.Errorf("the server was asked %s %s", s.method, s.uri)
			}
		})
	}
}

func TestTokenFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("sluice_from_file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &fakeServer{status: 200, answer: api.ApplicationList{}}
	if _, status, err := s.invoke(t, newStatusCommand(), "--token-file", file); status != 0 || s.token != "Bearer sluice_from_file" {
		t.Errorf("%q, %v", s.token, err)
	}
}

func TestEnvironmentNamesServerAndToken(t *testing.T) {
	s := &fakeServer{status: 200, answer: api.ApplicationList{}}
	server := httptest.NewServer(s)
	defer server.Close()
	t.Setenv("SLUICE_SERVER", server.URL)
	t.Setenv("SLUICE_TOKEN", "sluice_from_env")
	cmd := newStatusCommand()
	cmd.SetOut(io.Discard)
	cmd.SetArgs([]string{})
	if err := cmd.ExecuteContext(t.Context()); err != nil || s.token != "Bearer sluice_from_env" {
		t.Errorf("%q, %v", s.token, err)
	}
}
