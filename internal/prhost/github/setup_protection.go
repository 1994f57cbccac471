package github

import (
	"context"
	"net/http"
)

// rulesetName is the ruleset that Setup makes and keeps. Rulesets add up with what people have set, and replace nothing of it.
const rulesetName = "sluice"

func (h *Host) setUpProtection(ctx context.Context, apply bool) Step {
	s := Step{Need: "protection of " + h.BaseBranch}
	if s.Missing, s.Err = h.unprotected(ctx); s.Err != nil || len(s.Missing) == 0 || !apply {
		return s
	}
	if s.Err = h.protect(ctx); s.Err != nil {
		return s
	}
	s.Made = true
	s.Missing, s.Err = h.unprotected(ctx) // not all can be made up for by a ruleset
	return s
}

// protect makes the ruleset, or puts it right: no pushes but through pull requests, none that rewrite history, no
// deletion, the status required, and nobody exempt.
func (h *Host) protect(ctx context.Context) error {
	var sets []struct {
		ID   int64
		Name string
	}
	if err := h.call(ctx, http.MethodGet, nil, &sets, "repos/%s/%s/rulesets?includes_parents=false&per_page=%d", h.Owner, h.Repository, perPage); err != nil {
		return h.failure(err, "list the rulesets")
	}
	const permission = "for which the token needs administration: write"
	for _, set := range sets {
		if set.Name == rulesetName {
			err := h.call(ctx, http.MethodPut, h.ruleset(), nil, "repos/%s/%s/rulesets/%d", h.Owner, h.Repository, set.ID)
			return h.failure(err, "put the ruleset %s right, %s", rulesetName, permission)
		}
	}
	err := h.call(ctx, http.MethodPost, h.ruleset(), nil, "repos/%s/%s/rulesets", h.Owner, h.Repository)
	return h.failure(err, "make the ruleset %s, %s", rulesetName, permission)
}

type object = map[string]any

func (h *Host) ruleset() object {
	status := object{"context": h.StatusContext}
	if h.AppID != 0 {
		status["integration_id"] = h.AppID
	}
	return object{
		"name": rulesetName, "target": "branch", "enforcement": "active", "bypass_actors": []object{},
		"conditions": object{"ref_name": object{"include": []string{"refs/heads/" + h.BaseBranch}, "exclude": []string{}}},
		"rules": []object{
			{"type": "deletion"},
			{"type": "non_fast_forward"},
			{"type": "pull_request", "parameters": object{"required_approving_review_count": 0, "dismiss_stale_reviews_on_push": false,
				"require_code_owner_review": false, "require_last_push_approval": false, "required_review_thread_resolution": false}},
			{"type": "required_status_checks", "parameters": object{"strict_required_status_checks_policy": false,
				"required_status_checks": []object{status}}},
		},
	}
}
