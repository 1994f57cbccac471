package httpapi

import (
	"net/http"
	"regexp"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

const idempotencyKey = "Idempotency-Key"

var idempotencyKeyForm = regexp.MustCompile(`^[!-~]{1,255}$`)

func (a *API) postBuild(c echo.Context) error {
	var r api.BuildRequest
	if err := decodeUpTo(c, &r, maxBuild); err != nil {
		return err
	}
	keys := c.Request().Header.Values(idempotencyKey)
	if len(keys) > 1 || len(keys) == 1 && !idempotencyKeyForm.MatchString(keys[0]) {
		return refuse(http.StatusBadRequest, "malformed-idempotency-key", idempotencyKey,
			"give one Idempotency-Key of 1 to 255 visible ASCII characters, or none")
	}
	request := buildRequest(r)
	request.IdempotencyKey = c.Request().Header.Get(idempotencyKey)
	out, created, err := a.useCases.RecordBuild(c.Request().Context(), auth.ActorOf(c), request)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return c.JSON(status, buildAnswer(out))
}

func (a *API) getBuild(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	out, err := a.useCases.Build(c.Request().Context(), id)
	if err != nil {
		return found(err, "unknown-build", "there is no build with id %d", id)
	}
	return c.JSON(http.StatusOK, buildAnswer(out))
}

func buildRequest(r api.BuildRequest) promotion.BuildRequest {
	return promotion.BuildRequest{
		Migrations:  buildMigrations(r.Migrations),
		Application: r.Application, Version: r.Version, Line: r.Line, Group: r.Group, GroupExpects: r.Expects,
		Artifacts: each(r.Artifacts, func(a api.BuildArtifact) promotion.BuildArtifact {
			return promotion.BuildArtifact{Repository: a.Repository, Digest: a.Digest, Tags: a.Tags}
		}),
		Attestations: each(r.Attestations, buildAttestation),
		Charts:       each(r.Charts, func(c api.BuildChart) promotion.Chart { return promotion.Chart(c) }),
		Source:       promotion.Source{Repository: r.Source.Repository, Commit: r.Source.Commit, Ref: r.Source.Ref, Authors: r.Source.Authors},
		CI:           promotion.CIRun{Provider: r.CI.Provider, RunURL: r.CI.RunURL},
	}
}

func buildMigrations(m *api.BuildMigrations) *promotion.Migrations {
	if m == nil {
		return nil
	}
	return &promotion.Migrations{Tool: string(m.Tool), Files: each(m.Files, func(f api.BuildMigration) promotion.MigrationFile {
		return promotion.MigrationFile{Name: f.Name, SQL: f.SQL}
	})}
}

func buildAnswer(out promotion.BuildOutcome) api.Build {
	b := out.Build
	return api.Build{
		ID: b.ID, Version: b.Version, Line: b.Line, Group: b.Group, Expects: b.GroupExpects,
		Artifacts: each(b.Artifacts, func(a promotion.BuildArtifact) api.BuildArtifact {
			return api.BuildArtifact{Repository: a.Repository, Digest: a.Digest, Tags: a.Tags}
		}),
		Charts:   each(b.Charts, func(c promotion.Chart) api.BuildChart { return api.BuildChart(c) }),
		Source:   api.Source{Repository: b.Source.Repository, Commit: b.Source.Commit, Ref: b.Source.Ref, Authors: b.Source.Authors},
		CI:       api.CIRun{Provider: b.CI.Provider, RunURL: b.CI.RunURL},
		PostedBy: b.PostedBy, PostedAt: b.PostedAt.UTC(),
		Releases:   each(out.Releases, releaseAnswer),
		Promotions: each(out.Promotions, summaryAnswer),
		WaitingFor: each(out.Waiting, same[string]),
	}
}
