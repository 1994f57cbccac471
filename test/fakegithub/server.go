// Package fakegithub is a GitHub Enterprise Server for tests: pull requests,
// comments, statuses and branch protection of one repository, over a real bare
// Git repository. Every request and every answer is validated against GitHub's
// own OpenAPI description; answers are GitHub's examples with the facts put in.
package fakegithub

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// The one repository, and who has the token.
const (
	Owner      = "acme"
	Repository = "platform-config"
	Main       = "main"
	Token      = "ghs_a-token-that-nobody-may-see"
	Bot        = "sluice[bot]"
)

// Server is a fake GitHub. It is safe for concurrent use.
type Server struct {
	// URL is the base URL of the server; Remote is what git clones and pushes to.
	URL, Remote string

	t           testing.TB
	description *description
	git         bare

	mu         sync.Mutex
	around     func(http.Handler) http.Handler
	required   string // status without which nothing is merged
	protection object
	rulesets   []object
	pulls      []*pull // by number
	statuses   map[string]Status
	writes     []string
	refs       string // as of the last look

	queue, dismissStale bool
	hooks               []Hook
	lastID              int // of comments and reviews
	unchanged, changed  int // reads that were answered with 304, and in full

	now         func() time.Time
	permissions map[string]string // of the App; nil: it is not installed
	tokens      map[string]time.Time
	given       int
}

// New starts a server whose main has one commit. It is not protected.
func New(t testing.TB) *Server {
	t.Helper()
	d, err := load()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, description: d, git: newBare(t), statuses: map[string]Status{}, tokens: map[string]time.Time{}, now: time.Now}
	s.Remote = s.git.dir
	server := httptest.NewServer(http.StripPrefix("/api/v3", http.HandlerFunc(s.serve)))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Around puts a handler before GitHub's, for faults; nil takes it away. What
// it answers by itself is not validated.
func (s *Server) Around(around func(github http.Handler) http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.around = around
}

// Require makes a status necessary for merges.
func (s *Server) Require(context string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.required = context
}

// Writes lists the writing calls that reached GitHub, in order, as "PUT pulls/1/merge".
func (s *Server) Writes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.writes...)
}

// Reads is how many reading calls were answered in full, and how many with 304, which does not count against the rate limit.
func (s *Server) Reads() (full, unchanged int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed, s.unchanged
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	github := s.validated(s.routes())
	s.mu.Lock()
	around := s.around
	s.mu.Unlock()
	if around != nil {
		github = around(github)
	}
	github.ServeHTTP(w, r)
}

func (s *Server) routes() http.Handler {
	const prefix = "/repos/" + Owner + "/" + Repository + "/"
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+prefix+"installation", s.app(s.getInstallation))
	mux.HandleFunc("POST /app/installations/{id}/access_tokens", s.app(s.createToken))
	for pattern, handle := range map[string]http.HandlerFunc{
		"GET pulls":                     s.listPulls,
		"POST pulls":                    s.createPull,
		"GET pulls/{number}":            s.pull(s.getPull),
		"PATCH pulls/{number}":          s.pull(s.editPull),
		"PUT pulls/{number}/merge":      s.pull(s.mergePull),
		"GET issues/{number}":           s.pull(s.getIssue),
		"GET issues/{number}/comments":  s.pull(s.listComments),
		"POST issues/{number}/comments": s.pull(s.createComment),
		"GET issues/{number}/events":    s.pull(s.listEvents),
		"PATCH issues/comments/{id}":    s.editComment,
		"GET pulls/{number}/reviews":    s.pull(s.listReviews),
		"GET hooks":                     s.listHooks,
		"POST hooks":                    s.createHook,
		"PATCH hooks/{id}":              s.editHook,
		"GET rulesets":                  s.listRulesets,
		"POST rulesets":                 s.createRuleset,
		"PUT rulesets/{id}":             s.editRuleset,
		"POST statuses/{sha}":           s.createStatus,
		"GET compare/{basehead}":        s.compare,
		"GET branches/main/protection":  s.getProtection,
		"GET rules/branches/main":       s.getRules,
		"GET rulesets/{id}":             s.getRuleset,
	} {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+prefix+path, func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if !s.mayCall(r) {
				problem(w, http.StatusUnauthorized, "Bad credentials")
				return
			}
			if method != http.MethodGet {
				s.writes = append(s.writes, method+" "+strings.TrimPrefix(r.URL.Path, prefix))
			}
			s.look()
			handle(w, r)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { problem(w, http.StatusNotFound, "Not Found") })
	return mux
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body) //nolint:errcheck // the client is gone
}

// problem is an answer as GitHub makes it; details are of a failed validation.
func problem(w http.ResponseWriter, status int, message string, details ...object) {
	o := object{"message": message, "documentation_url": "https://docs.github.com/rest"}
	if len(details) > 0 {
		o["errors"] = details
	}
	answer(w, status, o)
}

// decode reads a request's body.
func decode(r *http.Request) object {
	o := object{}
	json.NewDecoder(r.Body).Decode(&o) //nolint:errcheck // validated already
	return o
}

func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}
