package auth

import (
	"context"
	"encoding/gob"
	"errors"
	"net/http"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Authenticator finds out who a request comes from.
type Authenticator struct {
	tokens   TokenStore
	sessions *scs.SessionManager
	now      func() time.Time
}

// The session's keys: who signed in without a token, or the hash of the token that was signed in with.
const (
	sessionActor = "actor"
	sessionToken = "token"
)

// NewAuthenticator keeps sessions in the given store, server-side. secure
// marks the cookie for HTTPS only; leave it false for plain HTTP on loopback alone.
func NewAuthenticator(tokens TokenStore, store scs.Store, secure bool, now func() time.Time) *Authenticator {
	gob.Register(promotion.Actor{})
	m := scs.New()
	m.Store = store
	m.Lifetime = 12 * time.Hour
	m.IdleTimeout = 2 * time.Hour
	m.HashTokenInStore = true
	m.Cookie.Name = "sluice_session"
	m.Cookie.HttpOnly = true
	m.Cookie.SameSite = http.SameSiteLaxMode
	m.Cookie.Secure = secure
	return &Authenticator{tokens: tokens, sessions: m, now: now}
}

// Middleware puts the actor into the request's context. A token that is given
// and not valid is refused at once; nobody is only who brings nothing.
func (a *Authenticator) Middleware() echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		withSession := echo.WrapMiddleware(a.sessions.LoadAndSave)(func(c echo.Context) error {
			by, err := a.signedIn(c.Request().Context())
			if err != nil {
				return err
			}
			c.Set(actorKey, by)
			return next(c)
		})
		return func(c echo.Context) error {
			token, ok := bearer(c.Request().Header.Get(echo.HeaderAuthorization))
			if !ok {
				return withSession(c)
			}
			by, err := a.Token(c.Request().Context(), token)
			if errors.Is(err, ErrUnknownToken) {
				return &promotion.Error{Kind: promotion.Unauthenticated, Code: "invalid-token",
					Message: "the token is unknown, expired or revoked: ask an admin for a new one"}
			} else if err != nil {
				return err
			}
			c.Set(actorKey, by)
			return next(c)
		}
	}
}

// Token is who holds a token.
func (a *Authenticator) Token(ctx context.Context, token string) (promotion.Actor, error) {
	return a.tokens.TokenActor(ctx, HashToken(token), a.now())
}

// signedIn is who the session belongs to, with the roles that they hold now; nobody when its token is no longer valid.
func (a *Authenticator) signedIn(ctx context.Context) (promotion.Actor, error) {
	if hash := a.sessions.GetBytes(ctx, sessionToken); hash != nil {
		by, err := a.tokens.TokenActor(ctx, hash, a.now())
		if errors.Is(err, ErrUnknownToken) {
			return promotion.Actor{}, a.sessions.Destroy(ctx)
		}
		return by, err
	}
	by, _ := a.sessions.Get(ctx, sessionActor).(promotion.Actor)
	return by, nil
}

// SignIn starts a new session for a person; the old session's token is never reused.
func (a *Authenticator) SignIn(ctx context.Context, by promotion.Actor) error {
	return a.startSession(ctx, sessionActor, by)
}

// SignInWithToken starts a session that lasts no longer than the token is valid, with the roles of the token.
func (a *Authenticator) SignInWithToken(ctx context.Context, token string) error {
	return a.startSession(ctx, sessionToken, HashToken(token))
}

func (a *Authenticator) startSession(ctx context.Context, key string, of any) error {
	if err := a.sessions.RenewToken(ctx); err != nil {
		return err
	}
	a.sessions.Remove(ctx, sessionActor)
	a.sessions.Remove(ctx, sessionToken)
	a.sessions.Put(ctx, key, of)
	return nil
}

// SignOut ends the session.
func (a *Authenticator) SignOut(ctx context.Context) error { return a.sessions.Destroy(ctx) }
