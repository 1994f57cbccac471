package web

import (
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// freezeRow is a freeze or window that has not ended.
type freezeRow struct {
	ID                               int64
	Mark                             mark
	When, About, Reason, Owner, Kind string
	CreatedBy                        string
	At                               moment
}

func newFreezeRow(f promotion.Freeze, z zoneChoice, now time.Time) freezeRow {
	row := freezeRow{ID: f.ID, Kind: string(f.Kind), Reason: f.Reason, Owner: f.Owner, CreatedBy: f.CreatedBy, At: at(f.CreatedAt, now),
		When: z.clock(f.StartsAt) + " to " + z.clock(f.EndsAt), About: about(f), Mark: mark{Shape: "pause", Tone: "warn", Word: "freeze"}}
	if f.Kind == promotion.KindWindow {
		row.Mark = mark{Shape: "open", Tone: "busy", Word: "extra window"}
	}
	if f.StartsAt.After(now) {
		row.Mark.Tone, row.Mark.Word = "off", row.Mark.Word+", to come"
	}
	return row
}

// about says in words what a freeze covers.
func about(f promotion.Freeze) string {
	parts := []string{}
	for _, one := range []struct {
		all, of string
		names   []string
	}{{"every application", "", f.Applications}, {"every environment", "", f.Environments}, {"", "clusters ", f.Clusters}} {
		switch {
		case len(one.names) > 0:
			parts = append(parts, one.of+strings.Join(one.names, ", "))
		case one.all != "":
			parts = append(parts, one.all)
		}
	}
	return strings.Join(parts, " · ")
}

// thaw ends a freeze or window early.
func (w *Web) thaw(c echo.Context) error {
	id, err := pathID(c, "id")
	if err != nil {
		return err
	}
	if err := w.useCases.Thaw(c.Request().Context(), auth.ActorOf(c), id); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/calendar#freezes")
}
