package fakegithub

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/getkin/kin-openapi/openapi3filter"
)

// validated fails the test when a request or an answer is not as GitHub describes it.
func (s *Server) validated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			s.t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		route, params, err := s.description.router.FindRoute(r)
		if err != nil {
			s.t.Errorf("%s %s is no call of GitHub that the fake knows: %v", r.Method, r.URL, err)
			http.NotFound(w, r)
			return
		}
		request := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route, Options: &openapi3filter.Options{SkipSettingDefaults: true}}
		if err := openapi3filter.ValidateRequest(r.Context(), request); err != nil {
			s.t.Errorf("the request %s %s is not as GitHub describes it: %s\n%s", r.Method, r.URL, brief(err), body)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		response := &openapi3filter.ResponseValidationInput{
			RequestValidationInput: request, Status: answer.Code, Header: answer.Header(), Body: io.NopCloser(bytes.NewReader(answer.Body.Bytes())),
			Options: &openapi3filter.Options{IncludeResponseStatus: !undescribed(r, answer.Code)},
		}
		if err := openapi3filter.ValidateResponse(r.Context(), response); err != nil {
			s.t.Errorf("the answer %d to %s %s is not as GitHub describes it: %s", answer.Code, r.Method, r.URL, brief(err))
		}
		s.give(w, r, answer)
	})
}

// give answers a conditional read with 304 when nothing has changed.
func (s *Server) give(w http.ResponseWriter, r *http.Request, answer *httptest.ResponseRecorder) {
	maps.Copy(w.Header(), answer.Header())
	if r.Method == http.MethodGet && answer.Code == http.StatusOK {
		tag := fmt.Sprintf(`W/"%x"`, sha256.Sum256([]byte(r.Header.Get("Authorization")+answer.Body.String())))
		w.Header().Set("ETag", tag)
		same := r.Header.Get("If-None-Match") == tag
		s.mu.Lock()
		if same {
			s.unchanged++
		} else {
			s.changed++
		}
		s.mu.Unlock()
		if same {
			w.Header().Del("Content-Type")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.WriteHeader(answer.Code)
	w.Write(answer.Body.Bytes()) //nolint:errcheck // the client is gone
}

// brief leaves out the schema, which is pages long.
func brief(err error) string {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

// undescribed tells the answers that GitHub gives and its description leaves
// out: 401 and 404 of most calls, and the refusal of a status.
func undescribed(r *http.Request, status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusNotFound ||
		status == http.StatusUnprocessableEntity && strings.Contains(r.URL.Path, "/statuses/")
}
