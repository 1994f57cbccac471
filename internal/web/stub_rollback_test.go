package web_test

import (
	"context"

	"github.com/sluicehq/sluice/internal/promotion"
)

func (s *stub) CheckRollback(_ context.Context, r promotion.RollbackRequest) (promotion.RollbackCheck, error) {
	s.asked = r
	return s.back, s.planErr
}

func (s *stub) AcceptUnknown(_ context.Context, by promotion.Actor, r promotion.AcceptRequest) (promotion.Promotion, error) {
	return s.did(by, r)
}

func (s *stub) Attest(_ context.Context, by promotion.Actor, r promotion.AttestRequest) (promotion.Attestation, error) {
	_, err := s.did(by, r)
	return promotion.Attestation{}, err
}

func (s *stub) Attestations(context.Context, string, int) ([]promotion.Attestation, error) {
	return s.attested, nil
}

func (s *stub) AcceptancesOf(context.Context, int64) ([]promotion.Acceptance, error) {
	return s.accepted, nil
}

func (s *stub) PlanRollback(_ context.Context, r promotion.GoBackRequest) (promotion.RestorePlan, error) {
	s.asked = r
	return s.restored, s.planErr
}

func (s *stub) PlanAdopt(_ context.Context, r promotion.AdoptRequest) (promotion.AdoptPlan, error) {
	s.asked = r
	plan := promotion.AdoptPlan{RestorePlan: s.restored, SelfHeal: true}
	plan.Cause = sampleDriftLooks()[0].Rollback
	return plan, s.planErr
}

func (s *stub) Adopt(_ context.Context, by promotion.Actor, r promotion.AdoptRequest) (promotion.Promotion, error) {
	return s.did(by, []any{"adopt", r})
}

func (s *stub) StartRollback(_ context.Context, by promotion.Actor, r promotion.GoBackRequest) (promotion.Promotion, error) {
	return s.did(by, r)
}

func (s *stub) ApplicationDatabases(context.Context) ([]promotion.DatabaseLook, error) {
	return []promotion.DatabaseLook{
		{DatabaseKey: promotion.DatabaseKey{Application: "billing", Environment: "staging"}},
		{DatabaseKey: promotion.DatabaseKey{Application: "checkout", Environment: "prod-eu"}, At: before(120), ReadAt: before(120)},
		{DatabaseKey: promotion.DatabaseKey{Application: "checkout", Environment: "prod-us"}, At: before(60), ReadAt: before(7200), Problem: "it does not accept <Sluice's> credentials (28P01)"},
	}, nil
}
