package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/url"
	"path"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/templates"
)

// pages are the templates by the page's name.
type pages map[string]*template.Template

// shared are the files that every page is parsed with.
var shared = []string{"layout.html", "fields.html", "marks.html", "tables.html"}

func parsePages() (pages, error) {
	versions, err := assetVersions()
	if err != nil {
		return nil, err
	}
	asset := func(name string) string { return "/static/" + name + "?v=" + versions[name] }
	base, err := template.New("").Funcs(template.FuncMap{"asset": asset}).ParseFS(templates.Pages, shared...)
	if err != nil {
		return nil, err
	}
	files, err := fs.Glob(templates.Pages, "*.html")
	if err != nil {
		return nil, err
	}
	p := pages{}
	for _, file := range files {
		one, err := base.Clone()
		if err != nil {
			return nil, err
		}
		if p[strings.TrimSuffix(file, ".html")], err = one.ParseFS(templates.Pages, file); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// assetVersions are in the addresses of static files, so that browsers may keep
// them for ever.
func assetVersions() (map[string]string, error) {
	versions := map[string]string{}
	err := fs.WalkDir(templates.Static, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := templates.Static.ReadFile(file)
		versions[path.Base(file)] = hashOf(data)
		return err
	})
	return versions, err
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// page is what the layout shows around a page's own view.
type page struct {
	Title  string
	Reload bool  // every ten seconds when there is no JavaScript
	Live   *live // nil for a page that does not change by itself
	Body   any

	Menu      []menuItem
	Who       who
	Demo      bool
	SignInURL string
	Stopped   *heldView // while everything is held
}

// body is what a page consists of below its top, and what a live page is told to fetch again.
type body struct {
	Stopped *heldView
	Body    any
}

// live says where a page's changes are told and where its content is fetched.
type live struct{ Fragment, Events string }

type menuItem struct {
	Text, URL string
	Current   bool
}

type who struct{ Name, Roles string }

func menu(current string) []menuItem {
	items := []menuItem{{Text: "Board", URL: "/"}, {Text: "History", URL: "/history"}, {Text: "Calendar", URL: "/calendar"},
		{Text: "Drift", URL: "/drift"}, {Text: "Violations & overrides", URL: "/violations"}, {Text: "Audit", URL: "/audit"}, {Text: "Set-up", URL: "/set-up"}}
	for i := range items {
		items[i].Current = items[i].URL == current
	}
	return items
}

// show answers with a page; it is rendered whole before the first byte is sent.
func (w *Web) show(c echo.Context, status int, name string, p page) error {
	by := auth.ActorOf(c)
	p.Menu, p.Who, p.Demo = menu(c.Request().URL.Path), who{Name: by.Name, Roles: roleNames(by.Roles)}, w.demo
	p.SignInURL = signInURL(c)
	stopped, err := w.heldNow(c.Request().Context(), 0)
	if err != nil && name != "error" { // whose cause may be the same
		return err
	}
	p.Stopped = newHeldView(stopped, w.now())
	var out bytes.Buffer
	if err := w.pages[name].ExecuteTemplate(&out, "page", p); err != nil {
		return fmt.Errorf("render page %s: %w", name, err)
	}
	return c.HTMLBlob(status, out.Bytes())
}

// fragment renders only what is below a page's top.
func (w *Web) fragment(name string, b body) ([]byte, error) {
	var out bytes.Buffer
	if err := w.pages[name].ExecuteTemplate(&out, "body", b); err != nil {
		return nil, fmt.Errorf("render page %s: %w", name, err)
	}
	return out.Bytes(), nil
}

// signInURL leads back to the page that is shown, or to the page a form belongs to.
func signInURL(c echo.Context) string {
	next := c.Request().URL.RequestURI()
	if c.Request().Method != "GET" {
		next = path.Dir(c.Request().URL.Path)
	}
	if c.Request().URL.Path == "/sign-in" {
		return next
	}
	return "/sign-in?next=" + url.QueryEscape(next)
}

func roleNames(roles []promotion.Role) string {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = string(r)
	}
	return strings.Join(names, ", ")
}
