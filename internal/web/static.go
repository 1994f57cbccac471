package web

import (
	"mime"
	"net/http"
	"path"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/templates"
)

func (w *Web) static(c echo.Context) error {
	name := path.Base(c.Param("name"))
	data, err := templates.Static.ReadFile("static/" + name)
	if err != nil {
		return absent("unknown-file", "there is no file %s", name)
	}
	if c.QueryParam("v") == hashOf(data) {
		c.Response().Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	return c.Blob(http.StatusOK, mime.TypeByExtension(path.Ext(name)), data)
}
