// Package auth says who a request comes from and who may use a route. Programs
// bring a bearer token, people a session; a route that declares nobody is for nobody.
package auth
