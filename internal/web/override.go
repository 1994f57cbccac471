package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

type overrideView struct {
	Application, Environment string
	BackURL                  string
	Targets                  []option // to choose from, while no target is chosen
	Problem                  *promotion.Error
	Gates                    []gateChoice
	GatesProblem             string
	Open                     link // what is on its way there
	Reason, Incident, Lasts  fieldView
	MayNot                   string
}

// gateChoice is a gate that an override can open.
type gateChoice struct {
	Name, Means string
	Holds       string // why it holds what is on its way, empty when it does not
	Chosen      bool
}

// gateMeans says what somebody gives up who overrides a gate.
func gateMeans(gate string) string {
	switch gate {
	case promotion.GateUpstreamVerified:
		return "it was not verified in the environment before"
	case promotion.GateArtifactAvailable:
		return "the registry may not have every image whole"
	case promotion.GateApprovals:
		return "nobody else has looked at it"
	case promotion.GateEvidence:
		return "what has to be verified has not passed"
	case promotion.GateSyncWindow:
		return "it goes out although no window is open, or there is a freeze"
	case promotion.GateHold:
		return "it goes out although somebody holds the target"
	case promotion.GateConcurrency:
		return "it does not wait for its turn, and more sync at once"
	case promotion.GateRollbackSafe:
		return "there may be no way back from it"
	case promotion.GateDeletions:
		return "objects may be deleted from the cluster"
	case promotion.GateBranchProtected:
		return "the base branch lets others past the gates"
	case promotion.GateServerDryRun:
		return "the cluster may refuse the objects"
	}
	return ""
}

func overrideURL(application, environment string, gates ...string) string {
	return "/overrides/new?" + url.Values{"application": {application}, "environment": {environment}, "gates": gates}.Encode()
}

// overrideForm is what was sent.
type overrideForm struct {
	application, environment string
	gates                    []string
	reason, incident, lasts  string
}

func readOverride(from url.Values) overrideForm {
	s := overrideForm{application: from.Get("application"), environment: from.Get("environment"), gates: from["gates"],
		reason: strings.TrimSpace(from.Get("reason")), incident: strings.TrimSpace(from.Get("incident")), lasts: from.Get("lasts")}
	if target := from.Get("target"); target != "" {
		s.application, s.environment, _ = strings.Cut(target, "/")
	}
	if s.lasts == "" {
		s.lasts = time.Hour.String()
	}
	return s
}

func (w *Web) showOverride(c echo.Context) error {
	return w.answerOverride(c, http.StatusOK, readOverride(c.QueryParams()), nil)
}

func (w *Web) override(c echo.Context) error {
	if err := readForm(c); err != nil {
		return err
	}
	s := readOverride(c.Request().PostForm)
	r := promotion.OverrideRequest{Application: s.application, Environment: s.environment, Gates: s.gates, Reason: s.reason, Incident: s.incident}
	if lasts, err := time.ParseDuration(s.lasts); err == nil {
		r.ExpiresAt = w.now().Add(lasts)
	}
	_, err := w.useCases.Override(c.Request().Context(), auth.ActorOf(c), r)
	if err == nil {
		return c.Redirect(http.StatusSeeOther, targetURL(s.application, s.environment))
	}
	refused, ok := refusal(err)
	if !ok {
		return err
	}
	return w.answerOverride(c, auth.Status(refused.Kind), s, refused)
}

func (w *Web) answerOverride(c echo.Context, status int, s overrideForm, refused *promotion.Error) error {
	ctx := c.Request().Context()
	v := overrideView{Application: s.application, Environment: s.environment, MayNot: mayNot(c, "override gates", glassBreakers)}
	if s.application == "" {
		if err := w.offerTargets(ctx, &v); err != nil {
			return err
		}
		return w.show(c, status, "override", page{Title: "Break glass", Body: v})
	}
	_, err := w.store.TargetNamed(ctx, s.application, s.environment)
	if errors.Is(err, promotion.ErrNotFound) {
		return absent("unknown-target", "%s has no environment %s", s.application, s.environment)
	} else if err != nil {
		return err
	}
	v.BackURL = targetURL(s.application, s.environment)
	if err := w.offerGates(ctx, &v, s.gates); err != nil {
		return err
	}
	form := refusedForm{refused: refused}
	v.GatesProblem = form.problem("gates")
	v.Reason = form.field("", "reason", "Reason", s.reason, "It stands on the pull request and on the board while the override is in force.")
	v.Incident = form.field("url", "incident", "Incident", s.incident, "A link to it, if there is one.")
	v.Lasts = form.lasts("In force for", "Then the gates hold again.", s.lasts)
	v.Problem = form.rest()
	return w.show(c, status, "override", page{Title: "Break glass for " + s.application + " in " + s.environment, Body: v})
}

func (w *Web) offerTargets(ctx context.Context, v *overrideView) error {
	targets, err := w.store.Targets(ctx)
	if err != nil {
		return err
	}
	v.Targets = each(targets, func(t promotion.Target) option {
		return option{Value: t.Application + "/" + t.Environment, Text: t.Application + " in " + t.Environment}
	})
	return nil
}

// offerGates lists what can be overridden, with what holds the promotion that is on its way there.
func (w *Web) offerGates(ctx context.Context, v *overrideView, chosen []string) error {
	open, err := w.onItsWay(ctx, v.Application, v.Environment)
	if err != nil {
		return err
	}
	var gates []promotion.GateResult
	if open != nil {
		v.Open = promotionLink(open.ID)
		if gates, err = w.store.Gates(ctx, open.ID); err != nil {
			return err
		}
	}
	for _, name := range promotion.Overridable() {
		choice := gateChoice{Name: name, Means: gateMeans(name), Chosen: slices.Contains(chosen, name)}
		for _, g := range gates {
			if g.Gate == name && g.Holds() {
				choice.Holds = g.Reason
			}
		}
		v.Gates = append(v.Gates, choice)
	}
	return nil
}

// onItsWay is the promotion that is under way to a target, nil without one.
func (w *Web) onItsWay(ctx context.Context, application, environment string) (*promotion.Promotion, error) {
	rows, err := w.store.Board(ctx)
	if err != nil {
		return nil, err
	}
	cell, ok := cellOf(rows, application, environment)
	if !ok {
		return nil, nil
	}
	return cell.Open, nil
}

// cellOf finds one target on the board.
func cellOf(rows []promotion.BoardRow, application, environment string) (promotion.BoardCell, bool) {
	for _, row := range rows {
		for _, cell := range row.Cells {
			if row.Application == application && cell.Target.Environment == environment {
				return cell, true
			}
		}
	}
	return promotion.BoardCell{}, false
}
