package github_test

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/prhost/github"
	"github.com/sluicehq/sluice/test/fakegithub"
)

const door = "https://sluice.example.test/webhooks/github"

// toldOf are the steps in one text, a line each.
func toldOf(steps []github.Step) string {
	var all []string
	for _, s := range steps {
		word := "ok"
		switch {
		case s.Err != nil:
			word = "failed " + s.Err.Error()
		case s.Made:
			word = "made"
		}
		all = append(all, strings.Join(append([]string{word + " " + s.Need + s.Advice}, s.Missing...), " | "))
	}
	return strings.Join(all, "\n")
}

func wants(a *github.App) github.Wanted {
	return github.Wanted{WebhookURL: door, WebhookSecret: "a-webhook-secret", App: a}
}

func TestSetupOfAnApp(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	a := newApp(t, s)
	h := newHost(t, s, acting(a))
	for i, want := range []string{"ok permissions of the App 4242\nmade webhook " + door + "\nmade protection of main",
		"ok permissions of the App 4242\nok webhook " + door + "\nok protection of main"} {
		if got := toldOf(h.Setup(t.Context(), wants(a), true)); got != want {
			t.Fatalf("run %d:\n%s\nwant\n%s", i+1, got, want)
		}
	}
	wrote(t, s, "POST hooks", "POST rulesets")
	hook := fakegithub.Hook{URL: door, Secret: "a-webhook-secret", ContentType: "json", Active: true, Events: []string{"push", "pull_request", "pull_request_review", "repository"}}
	if got := s.Hooks(); len(got) != 1 || !reflect.DeepEqual(got[0], hook) {
		t.Fatalf("webhooks are %+v, want %+v", got, hook)
	}
	if p, err := h.Protection(t.Context()); err != nil || len(p.Missing) != 0 {
		t.Fatalf("missing is %q, %v", p.Missing, err)
	}
}

func TestSetupNamesMissingPermissions(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	a := newApp(t, s)
	s.App(map[string]string{"metadata": "read", "contents": "read", "pull_requests": "write", "administration": "write", "repository_hooks": "write"})
	got := toldOf(newHost(t, s, acting(a)).Setup(t.Context(), wants(a), false)[:1])
	for _, says := range []string{"contents: write, for git push and PUT", "statuses: write, for POST /repos/{owner}/{repo}/statuses/{sha}"} {
		if !strings.Contains(got, says) {
			t.Errorf("told %q, want it to say %q", got, says)
		}
	}
	for _, has := range []string{"pull_requests", "administration", "repository_hooks"} {
		if strings.Contains(got, has) {
			t.Errorf("told %q, although %s is granted", got, has)
		}
	}
	wrote(t, s)
}

func TestSetupMendsAWebhook(t *testing.T) {
	t.Parallel()
	good := fakegithub.Hook{URL: door, Secret: "a-webhook-secret", ContentType: "json", Active: true, Events: []string{"push", "pull_request", "pull_request_review", "repository"}}
	for name, c := range map[string]struct {
		spoil func(*fakegithub.Hook)
		says  string // empty: nothing is to be mended
	}{
		"good":           {func(*fakegithub.Hook) {}, ""},
		"all events":     {func(h *fakegithub.Hook) { h.Events = []string{"*"} }, ""},
		"not active":     {func(h *fakegithub.Hook) { h.Active = false }, "not active"},
		"form":           {func(h *fakegithub.Hook) { h.ContentType = "form" }, "not json"},
		"no secret":      {func(h *fakegithub.Hook) { h.Secret = "" }, "no secret"},
		"another secret": {func(h *fakegithub.Hook) { h.LastCode = http.StatusUnauthorized }, "not Sluice's"},
		"fewer events":   {func(h *fakegithub.Hook) { h.Events = []string{"push", "star"} }, "does not tell of pull_request_review"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fakegithub.New(t)
			s.AddHook(fakegithub.Hook{URL: "https://ci.example.test", ContentType: "form", Events: []string{"push"}})
			hook := good
			c.spoil(&hook)
			s.AddHook(hook)
			h := newHost(t, s)
			steps := h.Setup(t.Context(), wants(nil), false)
			if got := strings.Join(steps[0].Missing, ", "); (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
				t.Fatalf("missing is %q, want %q", got, c.says)
			}
			if c.says == "" {
				return
			}
			if got := h.Setup(t.Context(), wants(nil), true)[0]; !got.Made || got.Err != nil || len(got.Missing) > 0 {
				t.Fatalf("applied: %+v", got)
			}
			got := s.Hooks()[1]
			for _, event := range append(hook.Events, good.Events...) {
				if !slices.Contains(got.Events, event) {
					t.Errorf("it does not tell of %s", event)
				}
			}
			if got.Events = good.Events; !reflect.DeepEqual(got, good) {
				t.Fatalf("mended to %+v", got)
			}
		})
	}
}

// A ruleset of that name that somebody has weakened is put right, and people's own stay.
func TestSetupMendsItsRuleset(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	s.AddRuleset(`{"id":3,"name":"ours","bypass_actors":[],"rules":[{"type":"required_linear_history"}]}`)
	s.AddRuleset(`{"id":7,"name":"sluice","bypass_actors":[{"actor_id":5,"actor_type":"RepositoryRole","bypass_mode":"always"}],"rules":[{"type":"deletion"}]}`)
	a := newApp(t, s)
	h := newHost(t, s, acting(a))
	want := "made protection of main"
	if got := toldOf(h.Setup(t.Context(), github.Wanted{}, true)); got != want {
		t.Fatalf("told %q, want %q", got, want)
	}
	wrote(t, s, "PUT rulesets/7")
}

func TestSetupThatMayNot(t *testing.T) {
	t.Parallel()
	refusal := `{"message":"Resource not accessible by integration"}`
	for name, c := range map[string]struct {
		method, path string
		apply        bool
		says         string
	}{
		"hooks not read":  {http.MethodGet, "/hooks", false, "repository_hooks: read"},
		"hook not made":   {http.MethodPost, "/hooks", true, "repository_hooks: write"},
		"rules not read":  {http.MethodGet, "/protection", false, "administration: read"},
		"sets not listed": {http.MethodGet, "/rulesets", true, "list the rulesets"},
		"set not made":    {http.MethodPost, "/rulesets", true, "administration: write"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fakegithub.New(t)
			s.Around(func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method == c.method && strings.HasSuffix(r.URL.Path, c.path) {
						answers(c.method, http.StatusForbidden, nil, refusal)(next).ServeHTTP(w, r)
						return
					}
					next.ServeHTTP(w, r)
				})
			})
			got := toldOf(newHost(t, s).Setup(t.Context(), wants(nil), c.apply))
			if !strings.Contains(got, "failed ") || !strings.Contains(got, c.says) || !strings.Contains(got, "Resource not accessible") {
				t.Fatalf("told\n%s\nwant it to say %q", got, c.says)
			}
		})
	}
}
