package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// rule is one rule that is active on a branch.
// https://docs.github.com/rest/repos/rules#get-rules-for-a-branch
type rule struct {
	Type       string
	RulesetID  int64 `json:"ruleset_id"`
	Parameters struct {
		Required []struct {
			Context       string
			IntegrationID *int64 `json:"integration_id"`
		} `json:"required_status_checks"`
	}
}

// ruleset is what has to be known of one beyond its rules.
type ruleset struct {
	Name         string
	BypassActors *[]struct{} `json:"bypass_actors"` // nil: GitHub does not tell this token
}

// rulesets tells which locks are held by rulesets that nobody may bypass, and
// why others do not count. Go-github's own types refuse rules they do not know
// and leave out the rulesets.
func (h *Host) rulesets(ctx context.Context) (held map[lock]bool, notes []string, err error) {
	rules, err := h.rules(ctx)
	if err != nil {
		return nil, nil, err
	}
	held, open := map[lock]bool{}, map[int64]string{}
	for _, r := range rules {
		k, note := h.holds(r)
		if note != "" {
			notes = append(notes, note)
		}
		if k == "" {
			continue
		}
		why, known := open[r.RulesetID]
		if !known {
			if why, err = h.bypass(ctx, r.RulesetID); err != nil {
				return nil, nil, err
			}
			open[r.RulesetID] = why
			if why != "" {
				notes = append(notes, why)
			}
		}
		if why == "" {
			held[k] = true
		}
	}
	return held, notes, nil
}

// rules are those that are active on the base branch.
func (h *Host) rules(ctx context.Context) ([]rule, error) {
	var rules []rule
	err := h.call(ctx, http.MethodGet, nil, &rules, "repos/%s/%s/rules/branches/%s?per_page=100", h.Owner, h.Repository, url.PathEscape(h.BaseBranch))
	if refused(err, http.StatusNotFound) {
		return nil, nil // a GitHub Enterprise Server from before there were rulesets
	}
	return rules, h.failure(err, "read the rules of %s", h.BaseBranch)
}

// queue says what to do instead when the base branch takes merges through a merge queue only; empty when it has none.
func (h *Host) queue(ctx context.Context) (string, error) {
	rules, err := h.rules(ctx)
	if slices.ContainsFunc(rules, func(r rule) bool { return r.Type == "merge_queue" }) {
		return h.enqueue(), nil
	}
	return "", err
}

func (h *Host) enqueue() string {
	return h.BaseBranch + " has a merge queue: approvers enqueue it on GitHub; Sluice recognises the queue's merge"
}

// holds is the lock that a rule is, or a note on why it is none.
func (h *Host) holds(r rule) (k lock, note string) {
	switch r.Type {
	case "pull_request":
		return pullRequests, ""
	case "non_fast_forward":
		return noForcePushes, ""
	case "deletion":
		return noDeletion, ""
	case "required_status_checks":
		required := map[string]*int64{}
		for _, c := range r.Parameters.Required {
			required[c.Context] = c.IntegrationID
		}
		if _, is := required[h.StatusContext]; !is {
			return "", ""
		}
		if why := h.unpinned(required); why != "" {
			return "", fmt.Sprintf("ruleset %d: %s", r.RulesetID, why)
		}
		return statusPinned, ""
	}
	return "", ""
}

// bypass says who may go past a ruleset; empty when nobody may.
func (h *Host) bypass(ctx context.Context, id int64) (string, error) {
	var r ruleset
	if err := h.call(ctx, http.MethodGet, nil, &r, "repos/%s/%s/rulesets/%d", h.Owner, h.Repository, id); err != nil {
		return "", h.failure(err, "read ruleset %d", id)
	}
	switch {
	case r.BypassActors == nil:
		return fmt.Sprintf("ruleset %q does not count: GitHub tells who may bypass it only to tokens that may write it (administration: write)", r.Name), nil
	case len(*r.BypassActors) > 0:
		return fmt.Sprintf("ruleset %q does not count: some may bypass it; empty its bypass list", r.Name), nil
	}
	return "", nil
}

// call makes a call that go-github has no fitting method for.
func (h *Host) call(ctx context.Context, method string, body, into any, format string, args ...any) error {
	r, err := h.client.NewRequest(method, fmt.Sprintf(format, args...), body)
	if err != nil {
		return err
	}
	_, err = h.client.Do(ctx, r, into)
	return err
}
