package httpapi_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/alexedwards/scs/v2/memstore"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/httpapi"
	"github.com/sluicehq/sluice/internal/promotion"
)

// door is the API over a stub. Everything it answers is checked against the document.
type door struct {
	*stub
	echo     *echo.Echo
	router   *auth.Router
	document *openapi3.T
	find     routers.Router
	log      bytes.Buffer
	notReady error
}

func newDoor(t testing.TB) *door {
	t.Helper()
	d := &door{stub: newStub(), echo: echo.New()}
	var err error
	if d.document, err = openapi3.NewLoader().LoadFromData(api.Document); err != nil {
		t.Fatal(err)
	}
	if d.find, err = gorillamux.NewRouter(d.document); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(&d.log, nil))
	d.echo.HTTPErrorHandler = httpapi.ErrorHandler(log)
	d.echo.Use(httpapi.IdentifyRequest(echo.ExtractIPDirect()))
	d.echo.Use(auth.NewAuthenticator(roleTokens{}, memstore.New(), false, time.Now).Middleware())
	d.router = auth.NewRouter(d.echo)
	httpapi.New(httpapi.Options{UseCases: d.stub, Store: d.stub, Log: log, Now: func() time.Time { return noon },
		Ready: func(context.Context) error { return d.notReady }}).Register(d.router)
	return d
}

// roleTokens takes the hash of a role's name for a token of that role.
type roleTokens struct{ auth.TokenStore }

func (roleTokens) TokenActor(_ context.Context, hash []byte, _ time.Time) (promotion.Actor, error) {
	for _, r := range roles() {
		if bytes.Equal(hash, auth.HashToken(string(r))) {
			return promotion.Actor{Name: string(r), Kind: promotion.Token, Roles: []promotion.Role{r}}, nil
		}
	}
	return promotion.Actor{}, auth.ErrUnknownToken
}

func roles() []promotion.Role {
	return []promotion.Role{promotion.RoleViewer, promotion.RoleCI, promotion.RoleReleaseManager, promotion.RoleApprover, promotion.RoleAdmin,
		promotion.RoleBreakGlass}
}

func request(token promotion.Role, method, target, body string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+string(token))
	}
	return r
}

func (d *door) get(t testing.TB, target string) *httptest.ResponseRecorder {
	t.Helper()
	return d.send(t, request(promotion.RoleViewer, http.MethodGet, target, ""))
}

func (d *door) post(t testing.TB, target, body string) *httptest.ResponseRecorder {
	t.Helper()
	return d.send(t, request(promotion.RoleAdmin, http.MethodPost, target, body))
}

// send answers one request. The answer must be as the document says, and so must a request that is not refused.
func (d *door) send(t testing.TB, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	w := httptest.NewRecorder()
	d.echo.ServeHTTP(w, r)
	route, params, err := d.find.FindRoute(r)
	if err != nil {
		return w // not in the document: 404 or 405
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	in := &openapi3filter.RequestValidationInput{Request: r, Route: route, PathParams: params, Options: &openapi3filter.Options{
		IncludeResponseStatus: true, RejectWhenRequestBodyNotSpecified: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}}
	invalid := openapi3filter.ValidateRequest(r.Context(), in)
	if invalid != nil && w.Code < 300 {
		t.Errorf("%s %s answered %d to a request that the document forbids: %v", r.Method, r.URL, w.Code, invalid)
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: w.Code, Header: w.Header(), Options: in.Options}
	out.SetBodyBytes(w.Body.Bytes())
	if err := openapi3filter.ValidateResponse(r.Context(), out); err != nil {
		t.Errorf("%s %s answered other than the document says: %v", r.Method, r.URL, err)
	}
	return w
}
