package httpapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/api"
)

func (a *API) getDocument(c echo.Context) error {
	return c.Blob(http.StatusOK, "application/yaml", api.Document)
}

func (a *API) getHealth(c echo.Context) error {
	return c.JSON(http.StatusOK, api.ServerStatus{Status: api.ServerStatusStatusOk})
}

func (a *API) getReadiness(c echo.Context) error {
	ctx := c.Request().Context()
	if err := a.ready(ctx); err != nil {
		a.log.WarnContext(ctx, "not ready", "error", err)
		return refuse(http.StatusServiceUnavailable, "not-ready", "", "this server cannot do its work now: its log says why")
	}
	return c.JSON(http.StatusOK, api.ServerStatus{Status: api.ServerStatusStatusOk})
}
