package web

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// releasesShown is how many of an application's newest releases can be chosen from.
const releasesShown = 50

type promoteView struct {
	Problem                          *promotion.Error
	Field                            string // that is to blame
	Applications                     []option
	Application, Environment, Reason string
	Environments, Releases           []option
	With                             []option // further environments for the same pull request
	Together                         bool     // some of them are chosen
	Hotfix                           bool
	At                               string
	Plan                             *planView // once environment and release are chosen
	MayNot                           string
}

type option struct {
	Value, Text string
	Chosen      bool
}

func (w *Web) showPromote(c echo.Context) error {
	return w.answerPromote(c, http.StatusOK, promotion.PromoteRequest{Application: c.QueryParam("application"),
		Environment: c.QueryParam("environment"), Release: c.QueryParam("release"), Reason: c.QueryParam("reason"),
		Hotfix: c.QueryParam("hotfix") != "", With: c.QueryParams()["with"]}, c.QueryParam("at"), nil)
}

func (w *Web) promote(c echo.Context) error {
	if err := readForm(c); err != nil {
		return err
	}
	r := promotion.PromoteRequest{Application: c.FormValue("application"), Environment: c.FormValue("environment"),
		Release: c.FormValue("release"), Reason: strings.TrimSpace(c.FormValue("reason")), Hotfix: c.FormValue("hotfix") != "", With: c.Request().PostForm["with"]}
	p, err := w.useCases.Promote(c.Request().Context(), auth.ActorOf(c), r)
	if err == nil {
		return c.Redirect(http.StatusSeeOther, fmt.Sprintf("/promotions/%d", p.ID))
	}
	refused, ok := refusal(err)
	if !ok {
		return err
	}
	return w.answerPromote(c, auth.Status(refused.Kind), r, c.FormValue("at"), refused)
}

func (w *Web) answerPromote(c echo.Context, status int, r promotion.PromoteRequest, when string, problem *promotion.Error) error {
	rows, err := w.store.Board(c.Request().Context())
	if err != nil {
		return err
	}
	v := promoteView{Problem: problem, Application: r.Application, Environment: r.Environment, Reason: r.Reason, Together: len(r.With) > 0, Hotfix: r.Hotfix, At: when,
		MayNot: mayNot(c, "promote", managers)}
	for _, row := range rows {
		v.Applications = append(v.Applications, option{Value: row.Application, Chosen: row.Application == r.Application})
		if row.Application == r.Application {
			v.Environments = each(row.Cells, func(cell promotion.BoardCell) option { return environmentOption(cell, r.Environment) })
			v.With = each(row.Cells, func(cell promotion.BoardCell) option {
				return option{Value: cell.Target.Environment, Chosen: slices.Contains(r.With, cell.Target.Environment)}
			})
		}
	}
	if v.Application != "" && v.Environments == nil {
		return absent("unknown-application", "there is no application %s", v.Application)
	}
	if v.Application != "" {
		if err := w.chooseRelease(c, &v, rows, r); err != nil {
			return err
		}
	}
	if v.Problem != nil {
		v.Field = v.Problem.Field
	}
	if problem == nil && v.Problem != nil { // found by looking ahead
		status = auth.Status(v.Problem.Kind)
	}
	return w.show(c, status, "promote", page{Title: "Promote", Body: v})
}

func environmentOption(cell promotion.BoardCell, chosen string) option {
	name := cell.Target.Environment
	text := name + " (main has no known release)"
	if cell.Desired != nil {
		text = fmt.Sprintf("%s (main has %s)", name, cell.Desired.Version)
	}
	return option{Value: name, Text: text, Chosen: name == chosen}
}

// chooseRelease offers the newest releases, and the chosen one even when it is older. When the
// environment is chosen too it says what would become of the promotion.
func (w *Web) chooseRelease(c echo.Context, v *promoteView, rows []promotion.BoardRow, r promotion.PromoteRequest) error {
	ctx := c.Request().Context()
	releases, err := w.store.Releases(ctx, r.Application, 0, releasesShown)
	if err != nil {
		return err
	}
	id, _ := strconv.ParseInt(r.Release, 10, 64)
	chosen := func(release promotion.Release) bool {
		return release.ID == id || id == 0 && r.Release != "" && release.Version == r.Release
	}
	if id > 0 && !slices.ContainsFunc(releases, chosen) {
		older, err := w.store.Release(ctx, id)
		if err == nil && older.Application == r.Application {
			releases = append(releases, older)
		}
	}
	v.Releases = each(releases, func(release promotion.Release) option {
		text := fmt.Sprintf("%s, release %d of line %s, %s", release.Version, release.Number, release.Line, at(release.CreatedAt, w.now()).Relative)
		if release.Origin == promotion.FromImport {
			text += ", imported: unproven"
		}
		return option{Value: strconv.FormatInt(release.ID, 10), Text: text, Chosen: chosen(release)}
	})
	i := slices.IndexFunc(releases, chosen)
	if i < 0 || !slices.ContainsFunc(v.Environments, func(o option) bool { return o.Chosen }) {
		return nil
	}
	cell, _ := cellOf(rows, r.Application, r.Environment)
	return w.foresee(ctx, v, cell, releases[i])
}
