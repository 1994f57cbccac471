package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// UseCases are what the story's people and CI do, through the same use cases as everybody.
type UseCases interface {
	RecordBuild(ctx context.Context, by promotion.Actor, r promotion.BuildRequest) (promotion.BuildOutcome, bool, error)
	Promote(ctx context.Context, by promotion.Actor, r promotion.PromoteRequest) (promotion.Promotion, error)
}

// Story plays releases of the example applications, so that a newcomer sees digests travel: one of checkout up to prod,
// where it waits for an approval; one that crashes in dev; its mend; and one of catalog, a Helm chart, on its way.
type Story struct {
	Uses     UseCases
	Promoted func(ctx context.Context, id int64) (promotion.Promotion, error)
	Registry string // host of the example images
	Push     Push
	Pause    time.Duration // between two chapters, and between two looks at one
}

// The story's people. The persona picker has the same ones.
var (
	ci   = promotion.Actor{Name: "ci", Kind: promotion.Token, Roles: []promotion.Role{promotion.RoleCI}}
	rita = promotion.Actor{Name: "rita", Kind: promotion.Person, Roles: []promotion.Role{promotion.RoleReleaseManager}}
)

// Crashing is the version of checkout whose container ends right after it starts.
const Crashing = "1.2.0-crash"

// Play runs the story. Played again it changes nothing that has happened already.
func (s *Story) Play(ctx context.Context) error {
	chapters := []func(context.Context) error{s.toProd, s.crash, s.mend, s.chart}
	for _, chapter := range chapters {
		if err := chapter(ctx); err != nil {
			return fmt.Errorf("the demo's story: %w", err)
		}
		if err := s.wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *Story) toProd(ctx context.Context) error {
	release, err := s.build(ctx, "checkout", "1.1.0", "5f2c1e7a90b4d3866c1f0e2b7d9a48c3e5106f7b")
	if err != nil {
		return err
	}
	if err := s.promote(ctx, "checkout", release, "staging", "weekly release"); err != nil {
		return err
	}
	return s.promote(ctx, "checkout", release, "prod", "weekly release, CHG-1041")
}

func (s *Story) crash(ctx context.Context) error {
	_, err := s.build(ctx, "checkout", Crashing, "c07d5b8e1a3f49267e80d1c2b3a495f6e7d80911")
	return err
}

func (s *Story) mend(ctx context.Context) error {
	_, err := s.build(ctx, "checkout", "1.2.1", "0e9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b4a39281f")
	return err
}

func (s *Story) chart(ctx context.Context) error {
	release, err := s.build(ctx, "catalog", "1.1.0", "9b41d7c2e8f05a63d1470c9e2b8f6a35d4e7c018")
	if err != nil {
		return err
	}
	return s.promote(ctx, "catalog", release, "staging", "new product pages")
}

// build posts a build and waits for what it started in dev to end, well or not.
func (s *Story) build(ctx context.Context, application, version, commit string) (int64, error) {
	digest, err := s.Push(ctx, Image{application, version})
	if err != nil {
		return 0, err
	}
	out, _, err := s.Uses.RecordBuild(ctx, ci, promotion.BuildRequest{
		Application: application, Version: version,
		Artifacts: []promotion.BuildArtifact{{Repository: s.Registry + "/shop/" + application, Digest: digest, Tags: []string{version}}},
		Source:    promotion.Source{Repository: "https://git.example.com/shop/" + application, Commit: commit, Ref: "refs/heads/main"},
		CI:        promotion.CIRun{Provider: "example", RunURL: "https://ci.example.com/shop/" + application + "/runs/" + commit[:7]},
	})
	if err != nil {
		return 0, err
	}
	for _, p := range out.Promotions {
		if err := s.follow(ctx, p.ID); err != nil {
			return 0, err
		}
	}
	return out.Releases[0].ID, nil
}

func (s *Story) promote(ctx context.Context, application string, release int64, environment, reason string) error {
	p, err := s.Uses.Promote(ctx, rita, promotion.PromoteRequest{Application: application, Environment: environment,
		Release: fmt.Sprint(release), Reason: reason})
	var refusal *promotion.Error
	if errors.As(err, &refusal) {
		return nil // told already, or a person has gone another way
	} else if err != nil {
		return err
	}
	if environment == "prod" {
		return nil // waits for a person's approval
	}
	return s.follow(ctx, p.ID)
}

// follow waits until a promotion has come to rest.
func (s *Story) follow(ctx context.Context, id int64) error {
	for {
		p, err := s.Promoted(ctx, id)
		if err != nil {
			return err
		}
		if state := p.State(); state.Finished() || state == promotion.StateFailed {
			return nil
		}
		if err := s.wait(ctx); err != nil {
			return err
		}
	}
}

func (s *Story) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(s.Pause):
		return nil
	}
}
