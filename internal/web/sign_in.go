package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

type signInView struct {
	Problem  *promotion.Error
	Personas []personaView // empty unless this is a demonstration
	Next     string
}

type personaView struct {
	Name, Title, Can string
	Roles            []promotion.Role
}

// Role is what the picker calls the roles.
func (p personaView) Role() string { return roleNames(p.Roles) }

func personas() []personaView {
	return []personaView{
		{"vera", "Vera", "Reads everything and changes nothing.", []promotion.Role{promotion.RoleViewer}},
		{"rita", "Rita", "Promotes, approves what others asked for, merges, syncs and cancels.", []promotion.Role{promotion.RoleReleaseManager}},
		{"amir", "Amir", "Approves or rejects, merges and syncs. Promotes nothing.", []promotion.Role{promotion.RoleApprover}},
		{"noor", "Noor", "A second approver, for what needs two.", []promotion.Role{promotion.RoleApprover}},
		{"gil", "Gil", "Breaks glass: opens gates for a time, with a reason that somebody else reviews.", []promotion.Role{promotion.RoleBreakGlass, promotion.RoleViewer}},
		{"ada", "Ada", "May do everything but break glass.", []promotion.Role{promotion.RoleAdmin}},
	}
}

// PersonaRoles are what somebody of the demonstration may do; none for somebody who is not in it.
func PersonaRoles(name string) []promotion.Role {
	for _, p := range personas() {
		if p.Name == name {
			return p.Roles
		}
	}
	return nil
}

func (w *Web) showSignIn(c echo.Context) error {
	return w.answerSignIn(c, http.StatusOK, localPath(c.QueryParam("next")), nil)
}

func (w *Web) answerSignIn(c echo.Context, status int, next string, problem *promotion.Error) error {
	v := signInView{Next: next, Problem: problem}
	if w.demo {
		v.Personas = personas()
	}
	return w.show(c, status, "sign-in", page{Title: "Sign in", Body: v})
}

func (w *Web) signIn(c echo.Context) error {
	if err := readForm(c); err != nil {
		return err
	}
	next := localPath(c.FormValue("next"))
	err := w.startSession(c)
	var refused *promotion.Error
	if errors.As(err, &refused) {
		return w.answerSignIn(c, auth.Status(refused.Kind), next, refused)
	} else if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, next)
}

// startSession signs in whom the form says; a persona only in a demonstration, else the holder of a token.
func (w *Web) startSession(c echo.Context) error {
	ctx := c.Request().Context()
	if w.demo {
		for _, p := range personas() {
			if p.Name == c.FormValue("persona") {
				return w.auth.SignIn(ctx, promotion.Actor{Name: p.Name, Kind: promotion.Person, Roles: p.Roles})
			}
		}
		return &promotion.Error{Kind: promotion.Invalid, Code: "unknown-persona", Field: "persona",
			Message: "Nobody of that name is here: choose one of these people."}
	}
	token := strings.TrimSpace(c.FormValue("token"))
	_, err := w.auth.Token(ctx, token)
	if errors.Is(err, auth.ErrUnknownToken) {
		return &promotion.Error{Kind: promotion.Unauthenticated, Code: "invalid-token", Field: "token",
			Message: "This token is unknown, expired or revoked: ask an admin for a new one."}
	} else if err != nil {
		return err
	}
	return w.auth.SignInWithToken(ctx, token)
}

func (w *Web) signOut(c echo.Context) error {
	if err := w.auth.SignOut(c.Request().Context()); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/")
}

// localPath is where to go after signing in: never to another site.
func localPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}
