package auth

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Access says who may use a route. The zero value lets nobody in.
type Access struct {
	anyone bool
	roles  []promotion.Role
}

// Anyone may use the route, signed in or not.
func Anyone() Access { return Access{anyone: true} }

// Roles lets in whoever holds one of the roles.
func Roles(roles ...promotion.Role) Access { return Access{roles: roles} }

// SignedIn lets in everybody who holds any role.
func SignedIn() Access {
	return Roles(promotion.Roles()...)
}

func (a Access) allows(by promotion.Actor) bool { return a.anyone || by.Has(a.roles...) }

// Router registers routes together with who may use them.
type Router struct {
	echo  *echo.Echo
	known map[string]Access
}

// NewRouter wraps an Echo instance whose requests pass the Authenticator's middleware.
func NewRouter(e *echo.Echo) *Router { return &Router{echo: e, known: map[string]Access{}} }

// Add registers a route.
func (r *Router) Add(method, path string, who Access, h echo.HandlerFunc) {
	r.known[method+" "+path] = who
	r.echo.Add(method, path, func(c echo.Context) error {
		by := ActorOf(c)
		switch {
		case who.allows(by):
			return h(c)
		case by.Name == "":
			return &promotion.Error{Kind: promotion.Unauthenticated, Code: "unauthenticated",
				Message: "sign in, or send a token as Authorization: Bearer …"}
		}
		return &promotion.Error{Kind: promotion.Forbidden, Code: "forbidden",
			Message: by.Name + " may not do this: ask an admin for the role it needs"}
	})
}

// Undeclared lists routes that were registered past the Router.
func (r *Router) Undeclared() []string {
	var routes []string
	for _, route := range r.echo.Routes() {
		key := route.Method + " " + route.Path
		if _, ok := r.known[key]; !ok && route.Method != echo.RouteNotFound {
			routes = append(routes, key)
		}
	}
	return routes
}

const actorKey = "actor"

// ActorOf is who the request comes from; its Name is empty for nobody.
func ActorOf(c echo.Context) promotion.Actor {
	by, _ := c.Get(actorKey).(promotion.Actor)
	return by
}

// Status is the HTTP status of an error's kind.
func Status(k promotion.Kind) int {
	switch k {
	case promotion.Invalid:
		return http.StatusUnprocessableEntity
	case promotion.Unauthenticated:
		return http.StatusUnauthorized
	case promotion.Forbidden:
		return http.StatusForbidden
	case promotion.Absent:
		return http.StatusNotFound
	case promotion.Conflict, promotion.Refused:
		return http.StatusConflict
	}
	return http.StatusInternalServerError
}
