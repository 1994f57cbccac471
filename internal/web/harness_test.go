package web_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/alexedwards/scs/v2/memstore"
	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/web"
)

// door is the pages over a stub.
type door struct {
	*stub
	echo   *echo.Echo
	router *auth.Router
	web    *web.Web
	log    bytes.Buffer
}

func newDoor(t testing.TB, demo bool) *door {
	t.Helper()
	return newDoorFor(t, demo, auth.NewAuthenticator(nameTokens{}, memstore.NewWithCleanupInterval(0), false, time.Now))
}

// newAnonymousDoor is a demonstration's door at which nobody can sign in. It starts no
// goroutine, as an Authenticator's sessions do, so that it can stand in a synctest bubble.
func newAnonymousDoor(t testing.TB) *door {
	t.Helper()
	return newDoorFor(t, true, nil)
}

func newDoorFor(t testing.TB, demo bool, a *auth.Authenticator) *door {
	t.Helper()
	d := &door{stub: newStub(), echo: echo.New()}
	var err error
	d.web, err = web.New(web.Options{UseCases: d.stub, Store: d.stub, Auth: a, Demo: demo, PullRequests: host{d.stub},
		Log: slog.New(slog.NewTextHandler(&d.log, nil)), Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	d.echo.HTTPErrorHandler = d.web.HandleError
	if a != nil {
		d.echo.Use(a.Middleware())
	}
	d.router = auth.NewRouter(d.echo)
	d.web.Register(d.router)
	return d
}

// nameTokens takes "name:roles" for a token.
type nameTokens struct{ auth.TokenStore }

func (nameTokens) TokenActor(_ context.Context, hash []byte, _ time.Time) (promotion.Actor, error) {
	for _, name := range []string{"vera:viewer", "cia:ci", "rita:release-manager", "amir:approver", "ada:admin", "gil:break-glass,viewer"} {
		if bytes.Equal(hash, auth.HashToken(name)) {
			name, roles, _ := strings.Cut(name, ":")
			by := promotion.Actor{Name: name, Kind: promotion.Person}
			for role := range strings.SplitSeq(roles, ",") {
				by.Roles = append(by.Roles, promotion.Role(role))
			}
			return by, nil
		}
	}
	return promotion.Actor{}, auth.ErrUnknownToken
}

// request is made as somebody, or as nobody when as is empty. A form makes it a POST.
func request(as, target string, form url.Values) *http.Request {
	method, body := http.MethodGet, io.Reader(nil)
	if form != nil {
		method, body = http.MethodPost, strings.NewReader(form.Encode())
	}
	r := httptest.NewRequest(method, target, body)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if as != "" {
		r.Header.Set("Authorization", "Bearer "+as)
	}
	return r
}

func (d *door) send(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	d.echo.ServeHTTP(w, r)
	return w
}

func (d *door) get(as, target string) *httptest.ResponseRecorder {
	return d.send(request(as, target, nil))
}

func (d *door) post(as, target string, form url.Values) *httptest.ResponseRecorder {
	if form == nil {
		form = url.Values{}
	}
	return d.send(request(as, target, form))
}

const (
	vera = "vera:viewer"
	cia  = "cia:ci"
	rita = "rita:release-manager"
	amir = "amir:approver"
	ada  = "ada:admin"
	gil  = "gil:break-glass,viewer"
)
