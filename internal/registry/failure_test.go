package registry_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/sluicehq/sluice/internal/registry"
)

// keys are credentials that must never be seen in an error.
type keys struct{}

const secret = "hunter2-do-not-show"

func (keys) Resolve(authn.Resource) (authn.Authenticator, error) {
	return &authn.Basic{Username: "robot", Password: secret}, nil
}

// TestUnknownIsAnError answers every question with one fault, and repeats the
// credentials as a careless registry might.
func TestUnknownIsAnError(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"unauthorized":        {401, `{"errors":[{"code":"UNAUTHORIZED","message":"%s"}]}`, "401 Unauthorized (UNAUTHORIZED): check Sluice's credentials"},
		"forbidden":           {403, `{"errors":[{"code":"DENIED","detail":"%s"}]}`, "403 Forbidden (DENIED)"},
		"code is no code":     {403, `{"errors":[{"code":"%s"}]}`, "403 Forbidden: check"},
		"rate limit":          {429, `{"errors":[{"code":"TOOMANYREQUESTS"}]}%s`, "429 Too Many Requests: its rate limit is reached"},
		"broken":              {500, "%s", "500 Internal Server Error"},
		"not answering":       {503, "%s", "503 Service Unavailable"},
		"not found by whom":   {404, "<html>%s</html>", "404 Not Found"},
		"not found otherwise": {404, `{"errors":[{"code":"UNSUPPORTED","message":"%s"}]}`, "404 Not Found (UNSUPPORTED)"},
		"not a manifest":      {200, "<html>%s</html>", "does not match requested digest"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			host := answering(t, &asked, test.status, fmt.Sprintf(test.body, secret))
			client := registry.New(registry.Options{Keychain: keys{}})
			artifact, err := client.Check(t.Context(), host+"/shop/api@sha256:"+strings.Repeat("0", 64))
			if err == nil {
				t.Fatalf("%+v, want an error", artifact)
			}
			if !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), host+"/shop/api") {
				t.Errorf("%q does not say %q and where", err, test.want)
			}
			for _, hidden := range []string{secret, "cm9ib3Q6"} { // the latter begins "robot:" in base64
				if strings.Contains(err.Error(), hidden) {
					t.Errorf("%q shows a credential", err)
				}
			}
			if n := asked.Load(); n != 1 {
				t.Errorf("asked %d times, want once: who calls decides about retries", n)
			}
		})
	}
}

// answering is a registry that lets anybody in and then gives one answer to every question.
func answering(t *testing.T, asked *atomic.Int32, status int, body string) (host string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v2/" {
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if _, password, _ := r.BasicAuth(); password != secret {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		asked.Add(1)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// TestHarborsAbsent: Harbor has a code of its own for what it does not hold.
func TestHarborsAbsent(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	host := answering(t, &asked, 404, `{"errors":[{"code":"NOT_FOUND","message":"artifact shop/api not found"}]}`)
	artifact, err := registry.New(registry.Options{Keychain: keys{}}).Check(t.Context(), host+"/shop/api@sha256:"+strings.Repeat("0", 64))
	if err != nil || artifact.Present {
		t.Errorf("%+v, %v; want an answer, not present", artifact, err)
	}
}

// TestBlobsUnknown: a registry that lets the manifest be read but not be asked for a layer.
func TestBlobsUnknown(t *testing.T) {
	t.Parallel()
	server, host := serve(t)
	reference := push(t, host)
	for _, status := range []int{401, 403, 500, 503} {
		broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/blobs/") {
				w.WriteHeader(status)
				return
			}
			server.Config.Handler.ServeHTTP(w, r)
		}))
		t.Cleanup(broken.Close)
		artifact, err := client(t).Check(t.Context(), strings.Replace(reference, host, strings.TrimPrefix(broken.URL, "http://"), 1))
		if err == nil || !strings.Contains(err.Error(), fmt.Sprint(status)) {
			t.Errorf("%d: %+v, %v; want an error that says so", status, artifact, err)
		}
	}
}

// toPlain sends every connection, whatever host it is for, to one plain HTTP server.
type toPlain struct{ host string }

func (p toPlain) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme == "https" {
		return nil, http.ErrSchemeMismatch
	}
	r = r.Clone(r.Context())
	r.URL.Host = p.host
	return http.DefaultTransport.RoundTrip(r)
}

func TestPlainHTTPOnlyWhereListed(t *testing.T) {
	t.Parallel()
	_, host := serve(t)
	digest := push(t, host)[len(host+"/shop/api@"):]
	for _, other := range []string{"10.1.2.3:5000", "registry.internal:5000"} {
		opts := registry.Options{Keychain: keys{}, Transport: toPlain{host}}
		_, err := registry.New(opts).Check(t.Context(), other+"/shop/api@"+digest)
		if err == nil || !strings.Contains(err.Error(), "clear text") {
			t.Errorf("%s: %v, want a refusal to send credentials in clear text", other, err)
		}
		opts.PlainHTTP = []string{other}
		artifact, err := registry.New(opts).Check(t.Context(), other+"/shop/api@"+digest)
		if err != nil || !artifact.Present {
			t.Errorf("%s, listed: %+v, %v", other, artifact, err)
		}
	}
}

func TestUserAgent(t *testing.T) {
	t.Parallel()
	var said atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { said.Store(r.UserAgent()) }))
	t.Cleanup(server.Close)
	_, _ = client(t).Check(t.Context(), strings.TrimPrefix(server.URL, "http://")+"/a@sha256:"+strings.Repeat("0", 64))
	if agent, _ := said.Load().(string); !strings.HasPrefix(agent, "sluice/test") {
		t.Errorf("the registry was asked by %q", agent)
	}
}
