package scenario_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// protects has a host answer for the protection of its base branch.
type protects struct {
	promotion.PullRequestHost
	missing []string
	err     error
}

func (p protects) Protection(context.Context) (promotion.Protection, error) {
	return promotion.Protection{Missing: p.missing}, p.err
}

// A target's gates hold only behind both locks: the host's required status, and a sync that Sluice alone starts.
func TestATargetIsHeldBehindBothLocks(t *testing.T) {
	for name, test := range map[string]struct {
		environment string
		host        protects
		runs        bool
		automated   bool
		lacking     string // none: held
	}{
		"both":                          {"prod", protects{}, true, false, ""},
		"the status is not pinned":      {"prod", protects{missing: []string{"the status is not pinned"}}, true, false, "the status is not pinned"},
		"the protection cannot be read": {"prod", protects{err: errors.New("403 Forbidden")}, true, false, "could not be read: 403 Forbidden"},
		"Argo CD syncs it":              {"prod", protects{}, true, true, "Argo CD syncs argocd-web-prod by itself"},
		"by policy Argo CD syncs it":    {"dev", protects{}, true, true, "by policy Argo CD syncs it"},
		"nothing deploys it":            {"prod", protects{}, false, false, "no Argo CD Application"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			site := w.service.Sites[repository]
			test.host.PullRequestHost = site.Host
			site.Host = test.host
			w.service.Sites[repository] = site
			w.look()
			var deployments []promotion.Deployment
			if test.runs {
				deployments = []promotion.Deployment{{Observation: promotion.Observation{Key: promotion.DeploymentKey{Name: "argocd-web-prod"}, AutomatedSync: test.automated}}}
			}
			s, err := w.service.Standing(w.Context(), w.target("web", test.environment), deployments)
			w.must(err)
			if s.Held != (test.lacking == "") || !strings.Contains(strings.Join(s.Lacking, "; "), test.lacking) {
				t.Errorf("it stands %+v, want that it lacks %q", s, test.lacking)
			}
		})
	}
}

func TestATargetWhoseBranchWasNeverLookedAtIsNotHeld(t *testing.T) {
	w := newWorld(t)
	_, err := w.pool.Exec(w.Context(), "UPDATE config_repositories SET unprotected = NULL") // as before an upgrade
	w.must(err)
	s, err := w.service.Standing(w.Context(), w.target("web", "prod"), []promotion.Deployment{{}})
	w.must(err)
	w.contains("what is lacking", strings.Join(s.Lacking, "; "), "not known yet")
}
