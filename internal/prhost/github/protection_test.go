package github_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/prhost/github"
	"github.com/sluicehq/sluice/test/fakegithub"
)

// protection is a whole branch protection with some members put in place of its own.
func protection(members map[string]string) string {
	all := map[string]string{
		"required_pull_request_reviews": `{"dismiss_stale_reviews":true,"require_code_owner_reviews":false,"required_approving_review_count":1}`,
		"required_status_checks":        `{"strict":false,"contexts":["sluice/gates"],"checks":[{"context":"ci","app_id":null},{"context":"sluice/gates","app_id":42}]}`,
		"enforce_admins":                `{"url":"https://github.example.test/enforce_admins","enabled":true}`,
		"allow_force_pushes":            `{"enabled":false}`,
		"allow_deletions":               `{"enabled":false}`,
	}
	for name, value := range members {
		all[name] = value
	}
	list := []string{}
	for name, value := range all {
		if value != "" {
			list = append(list, `"`+name+`":`+value)
		}
	}
	return "{" + strings.Join(list, ",") + "}"
}

// ruleset holds every lock; tail is put at its end.
func ruleset(integration, tail string) string {
	return `{"id":7,"name":"main","rules":[{"type":"deletion"},{"type":"non_fast_forward"},{"type":"copilot_code_review","parameters":{}},
{"type":"pull_request","parameters":{"dismiss_stale_reviews_on_push":true,"require_code_owner_review":false,"require_last_push_approval":false,
"required_approving_review_count":1,"required_review_thread_resolution":false}},
{"type":"required_status_checks","parameters":{"strict_required_status_checks_policy":false,"required_status_checks":[{"context":"sluice/gates"` + integration + `}]}}]` + tail + "}"
}

func TestProtection(t *testing.T) {
	t.Parallel()
	const pinned, nobody = `,"integration_id":42`, `,"bypass_actors":[]`
	all := []string{"takes direct pushes", "takes force pushes", "may be deleted", "sluice/gates is not required"}
	for name, c := range map[string]struct {
		protection string
		ruleset    string
		missing    []string // what each of them says
	}{
		"not protected":              {missing: all},
		"all":                        {protection: protection(nil)},
		"direct pushes":              {protection: protection(map[string]string{"required_pull_request_reviews": ""}), missing: all[:1]},
		"force pushes":               {protection: protection(map[string]string{"allow_force_pushes": `{"enabled":true}`}), missing: all[1:2]},
		"deletion":                   {protection: protection(map[string]string{"allow_deletions": `{"enabled":true}`}), missing: all[2:3]},
		"admins exempt":              {protection: protection(map[string]string{"enforce_admins": `{"url":"https://github.example.test/enforce_admins","enabled":false}`}), missing: []string{"administrators are exempt"}},
		"no status":                  {protection: protection(map[string]string{"required_status_checks": ""}), missing: all[3:]},
		"another status":             {protection: protection(map[string]string{"required_status_checks": `{"contexts":["ci"],"checks":[{"context":"ci","app_id":42}]}`}), missing: all[3:]},
		"status of anybody":          {protection: protection(map[string]string{"required_status_checks": `{"contexts":["sluice/gates"],"checks":[{"context":"sluice/gates","app_id":null}]}`}), missing: []string{"may come from anybody"}},
		"status of any App":          {protection: protection(map[string]string{"required_status_checks": `{"contexts":["sluice/gates"],"checks":[{"context":"sluice/gates","app_id":-1}]}`}), missing: []string{"may come from anybody"}},
		"status of another App":      {protection: protection(map[string]string{"required_status_checks": `{"contexts":["sluice/gates"],"checks":[{"context":"sluice/gates","app_id":43}]}`}), missing: []string{"App 43, and Sluice's is 42"}},
		"ruleset":                    {ruleset: ruleset(pinned, nobody)},
		"ruleset makes up":           {protection: protection(map[string]string{"required_status_checks": ""}), ruleset: ruleset(pinned, nobody)},
		"ruleset makes up for all":   {protection: protection(map[string]string{"enforce_admins": ""}), ruleset: ruleset(pinned, nobody)},
		"ruleset, status of anybody": {ruleset: ruleset("", nobody), missing: []string{all[3], "ruleset 7: the required status sluice/gates may come from anybody"}},
		"ruleset, half and exempt":   {protection: protection(map[string]string{"enforce_admins": ""}), ruleset: ruleset("", nobody), missing: []string{"administrators are exempt", "ruleset 7"}},
		"ruleset with a bypass":      {ruleset: ruleset(pinned, `,"bypass_actors":[{"actor_id":5,"actor_type":"RepositoryRole","bypass_mode":"always"}]`), missing: append(all[:4:4], "some may bypass it")},
		"ruleset, bypass not told":   {ruleset: ruleset(pinned, ""), missing: append(all[:4:4], "administration: write")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fakegithub.New(t)
			if c.protection != "" {
				s.Protect(c.protection)
			}
			if c.ruleset != "" {
				s.AddRuleset(c.ruleset)
			}
			p, err := newHost(t, s, func(o *github.Options) { o.AppID = 42 }).Protection(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Missing) != len(c.missing) {
				t.Fatalf("missing is %q, want %q", p.Missing, c.missing)
			}
			for i, says := range c.missing {
				if !strings.Contains(p.Missing[i], says) {
					t.Errorf("missing is %q, want it to say %q", p.Missing[i], says)
				}
			}
		})
	}
}

// With a token no setting makes the branch more than advisory.
func TestProtectionWithAToken(t *testing.T) {
	t.Parallel()
	checks := func(app string) string {
		return protection(map[string]string{"required_status_checks": `{"contexts":["sluice/gates"],"checks":[{"context":"sluice/gates","app_id":` + app + `}]}`})
	}
	const advisory = "advisory: the status sluice/gates is not pinned to an App"
	for name, c := range map[string]struct {
		protection, ruleset string
		missing             []string
	}{
		"required":              {protection: checks("null"), missing: []string{advisory}},
		"required, any App":     {protection: checks("-1"), missing: []string{advisory}},
		"required by a ruleset": {ruleset: ruleset("", `,"bypass_actors":[]`), missing: []string{advisory}},
		"pinned to another":     {protection: checks("42"), missing: []string{"Sluice acts with a token, which can never set it", advisory}},
		"pinned, by a ruleset":  {ruleset: ruleset(`,"integration_id":42`, `,"bypass_actors":[]`), missing: []string{"sluice/gates is not required", "can never set it", advisory}},
		"not required":          {protection: protection(map[string]string{"required_status_checks": ""}), missing: []string{"sluice/gates is not required", advisory}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fakegithub.New(t)
			if c.protection != "" {
				s.Protect(c.protection)
			}
			if c.ruleset != "" {
				s.AddRuleset(c.ruleset)
			}
			p, err := newHost(t, s).Protection(t.Context())
			if err != nil || len(p.Missing) != len(c.missing) {
				t.Fatalf("missing is %q, %v; want %q", p.Missing, err, c.missing)
			}
			for i, says := range c.missing {
				if !strings.Contains(p.Missing[i], says) {
					t.Errorf("missing is %q, want it to say %q", p.Missing[i], says)
				}
			}
		})
	}
}

func TestProtectionThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path   string
		status int
		header http.Header
		says   string
	}{
		"no permission":             {path: "/protection", status: 403, header: http.Header{"X-Accepted-Github-Permissions": {"administration=read"}}, says: "needs the permission administration: read"},
		"hidden":                    {path: "/protection", status: 404, says: "needs administration: read"},
		"server error":              {path: "/protection", status: 500, says: "answers 500"},
		"rules, server error":       {path: "/rules/", status: 500, says: "read the rules of main"},
		"bypass list, server error": {path: "/rulesets/", status: 500, says: "read ruleset 7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fakegithub.New(t)
			s.AddRuleset(ruleset(`,"integration_id":42`, `,"bypass_actors":[]`))
			s.Around(func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if strings.Contains(r.URL.Path, c.path) {
						answers(http.MethodGet, c.status, c.header, `{"message":"Not Found"}`)(next).ServeHTTP(w, r)
						return
					}
					next.ServeHTTP(w, r)
				})
			})
			p, err := newHost(t, s).Protection(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("protection is %+v, error %v; want it to say %q", p, err, c.says)
			}
		})
	}
}
