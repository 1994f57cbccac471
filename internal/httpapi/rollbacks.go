package httpapi

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/rollback"
)

func (a *API) checkRollback(c echo.Context) error {
	q := readQuery(c, "application", "environment", "to", "limit")
	r := promotion.RollbackRequest{Application: q.needed("application"), Environment: q.needed("environment"), To: q.text("to")}
	if value := q.text("limit"); value != "" {
		var err error
		if r.Limit, err = strconv.Atoi(value); err != nil || r.Limit < 1 || r.Limit > promotion.MostCandidates {
			q.refuse("malformed-parameter", "limit", "parameter limit is "+strconv.Quote(value)+": give a number from 1 to "+strconv.Itoa(promotion.MostCandidates))
		}
	}
	if q.err != nil {
		return q.err
	}
	check, err := a.useCases.CheckRollback(c.Request().Context(), r)
	if err != nil {
		return err
	}
	answer := api.RollbackCheck{Application: check.Target.Application, Environment: check.Target.Environment, At: check.At,
		Current: rollbackRelease(check.Current), Candidates: each(check.Candidates, rollbackCandidate)}
	if best := check.Nearest(); best != nil {
		answer.Recommended = rollbackRelease(best.Release)
	}
	if barred := check.PointOfNoReturn(); barred != nil {
		answer.PointOfNoReturn = rollbackRelease(barred.Release)
	}
	return c.JSON(http.StatusOK, answer)
}

func (a *API) planRollback(c echo.Context) error {
	r, err := goBackRequest(c)
	if err != nil {
		return err
	}
	plan, err := a.useCases.PlanRollback(c.Request().Context(), r)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, restorationAnswer(plan))
}

func (a *API) startRollback(c echo.Context) error {
	r, err := goBackRequest(c)
	if err != nil {
		return err
	}
	p, err := a.useCases.StartRollback(c.Request().Context(), auth.ActorOf(c), r)
	if err != nil {
		return err
	}
	return a.answerPromotion(c, http.StatusCreated, p)
}

func goBackRequest(c echo.Context) (promotion.GoBackRequest, error) {
	var r api.RollbackRequest
	err := decode(c, &r)
	return promotion.GoBackRequest{Application: r.Application, Environment: r.Environment, Way: promotion.Way(r.Way), To: r.To, Promotion: r.Promotion,
		Base: r.Base, Secrets: r.Secrets, Reason: r.Reason}, err
}

func (a *API) getRollbackVerdict(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	v, err := a.useCases.RollbackVerdict(c.Request().Context(), id)
	if err != nil {
		return err
	}
	answer := rollbackVerdict(v)
	facts, err := json.Marshal(v.Facts)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(facts, &answer.Facts); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, answer)
}

func (a *API) acceptUnknown(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	var r api.AcceptanceRequest
	if err := decode(c, &r); err != nil {
		return err
	}
	p, err := a.useCases.AcceptUnknown(c.Request().Context(), auth.ActorOf(c),
		promotion.AcceptRequest{Promotion: id, Unknown: r.Unknown, Reason: r.Reason, ExpiresAt: r.ExpiresAt})
	if err != nil {
		return err
	}
	return a.answerPromotion(c, http.StatusOK, p)
}

func rollbackRelease(r promotion.Release) api.RollbackRelease {
	return api.RollbackRelease{ID: r.ID, Number: r.Number, Version: r.Version}
}

func rollbackCandidate(c promotion.RollbackCandidate) api.RollbackCandidate {
	return api.RollbackCandidate{Release: rollbackRelease(c.Release), Images: rollbackVerdict(c.Images), ImagesAndConfig: rollbackVerdict(c.WithConfig),
		Revert: rollbackUndoing(c.Undo)}
}

func rollbackUndoing(u promotion.Undoing) api.RollbackUndoing {
	answer := api.RollbackUndoing{Promotion: u.Promotion, Problem: u.Problem}
	if u.Problem == "" {
		answer.Verdict = rollbackVerdict(u.Verdict)
	}
	return answer
}

func rollbackVerdict(v promotion.RollbackVerdict) api.RollbackVerdict {
	return api.RollbackVerdict{ID: v.ID, Application: v.Target.Application, Environment: v.Target.Environment,
		Current: rollbackRelease(v.Current), Candidate: rollbackRelease(v.Candidate), Way: api.RollbackVerdictWay(v.Way), Commit: v.Commit,
		Checks: each(v.Verdict.Predicates.All(), func(p rollback.NamedPredicate) api.RollbackPredicate {
			return api.RollbackPredicate{Name: api.RollbackPredicateName(p.Name), Value: api.RollbackPredicateValue(p.Value), Reasons: each(p.Reasons, rollbackReason),
				Mode: api.RollbackPredicateMode(p.Mode)}
		}),
		Overall: api.RollbackVerdictOverall(v.Verdict.Overall), Gate: api.RollbackVerdictGate(v.Verdict.Gate),
		Blocking: each(v.Verdict.Blocking, rollbackReason), Unchecked: each(v.Verdict.Unchecked, same[string]),
		Notes: each(v.Notes, same[string]), Unread: each(v.Unread, same[string]), EvaluatedAt: v.EvaluatedAt, ConfirmedAt: v.ConfirmedAt}
}

func rollbackReason(code string) api.RollbackReason {
	return api.RollbackReason{Code: code, Text: rollback.Explain(code)}
}
