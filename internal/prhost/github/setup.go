package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/google/go-github/v60/github"
)

// Wanted is what Setup has to see to besides the protection of the base branch.
type Wanted struct {
	// WebhookURL and WebhookSecret are of Sluice's door for GitHub's webhooks. Empty: there is none, and changes are found by polling.
	WebhookURL, WebhookSecret string
	// App acts on the repository; nil with a person's token.
	App *App
}

// Step is one thing that a repository needs.
type Step struct {
	Need    string
	Missing []string // in words; empty when nothing is, or no longer
	Made    bool     // by this run
	Advice  string   // what nothing that Setup makes can mend; it stands in nobody's way
	Err     error    // it could not be read or made
}

// Setup finds what the repository needs to be gated by Sluice and, if asked to apply it, makes what is missing. What is
// there already stays as it is, so that a second run changes nothing.
func (h *Host) Setup(ctx context.Context, w Wanted, apply bool) []Step {
	var steps []Step
	if w.App != nil {
		steps = append(steps, h.setUpPermissions(ctx, w.App))
	}
	if w.WebhookURL != "" {
		steps = append(steps, h.setUpWebhook(ctx, w, apply))
	}
	steps = append(steps, h.setUpProtection(ctx, apply))
	if h.AppID == 0 {
		steps = append(steps, Step{Need: "identity", Advice: h.advisory()})
	}
	return steps
}

// permission is one that a GitHub App needs, and the calls that need it. Each is needed for writing, the highest level there is.
type permission struct{ name, calls string }

// needed are the permissions of Sluice's App beside metadata: read, which every App has.
func needed() []permission {
	return []permission{
		{"contents", "git push and PUT /repos/{owner}/{repo}/pulls/{number}/merge"},
		{"pull_requests", "POST /repos/{owner}/{repo}/pulls and POST /repos/{owner}/{repo}/issues/{number}/comments"},
		{"statuses", "POST /repos/{owner}/{repo}/statuses/{sha}"},
		{"administration", "GET /repos/{owner}/{repo}/rulesets/{id}, which tells who may bypass it only to those who may write, and POST /repos/{owner}/{repo}/rulesets"},
		{"repository_hooks", "POST /repos/{owner}/{repo}/hooks"},
	}
}

func (h *Host) setUpPermissions(ctx context.Context, app *App) Step {
	s := Step{Need: fmt.Sprintf("permissions of the App %d", app.ID)}
	installed, err := app.Installation(ctx)
	if err != nil {
		s.Err = err
		return s
	}
	for _, p := range needed() {
		if installed.Permissions[p.name] != "write" {
			s.Missing = append(s.Missing, fmt.Sprintf("%s: write, for %s", p.name, p.calls))
		}
	}
	return s
}

// events are the ones that say where to look.
func events() []string { return []string{"push", "pull_request", "pull_request_review", "repository"} }

func (h *Host) setUpWebhook(ctx context.Context, w Wanted, apply bool) Step {
	s := Step{Need: "webhook " + w.WebhookURL}
	hook, err := h.findHook(ctx, w.WebhookURL)
	if err != nil {
		s.Err = err
		return s
	}
	s.Missing = lacksOf(hook)
	if len(s.Missing) == 0 || !apply {
		return s
	}
	wanted := &github.Hook{Active: github.Bool(true), Events: union(hook, events()), Config: &github.HookConfig{
		URL: &w.WebhookURL, Secret: &w.WebhookSecret, ContentType: github.String("json"), InsecureSSL: github.String("0")}}
	if hook == nil {
		_, _, err = h.client.Repositories.CreateHook(ctx, h.Owner, h.Repository, wanted)
	} else {
		_, _, err = h.client.Repositories.EditHook(ctx, h.Owner, h.Repository, hook.GetID(), wanted)
	}
	if err != nil {
		s.Err = h.failure(err, "make the webhook, for which the token needs repository_hooks: write")
		return s
	}
	s.Missing, s.Made = nil, true
	return s
}

func (h *Host) findHook(ctx context.Context, url string) (*github.Hook, error) {
	for page := (github.ListOptions{PerPage: perPage, Page: 1}); page.Page != 0; {
		hooks, answer, err := h.client.Repositories.ListHooks(ctx, h.Owner, h.Repository, &page)
		if err != nil {
			return nil, h.failure(err, "list the webhooks, for which the token needs repository_hooks: read")
		}
		for _, hook := range hooks {
			if hook.GetConfig().GetURL() == url {
				return hook, nil
			}
		}
		page.Page = answer.NextPage
	}
	return nil, nil
}

// lacksOf is what keeps a webhook from telling Sluice. GitHub does not give away its secret, but what Sluice last answered to it.
func lacksOf(hook *github.Hook) (missing []string) {
	if hook == nil {
		return []string{"there is none"}
	}
	config := hook.GetConfig()
	if !hook.GetActive() {
		missing = append(missing, "it is not active")
	}
	if config.GetContentType() != "json" {
		missing = append(missing, "its content type is not json")
	}
	if config.GetInsecureSSL() != "0" {
		missing = append(missing, "it does not verify certificates")
	}
	if config.GetSecret() == "" {
		missing = append(missing, "it has no secret")
	}
	if code, is := hook.LastResponse["code"].(float64); is && code == http.StatusUnauthorized {
		missing = append(missing, "its secret is not Sluice's: the last delivery was refused")
	}
	for _, e := range events() {
		if !slices.Contains(hook.Events, e) && !slices.Contains(hook.Events, "*") {
			missing = append(missing, "it does not tell of "+e)
		}
	}
	return missing
}

// union keeps the events that somebody asked for.
func union(hook *github.Hook, wanted []string) []string {
	if hook == nil {
		return wanted
	}
	all := slices.Clone(hook.Events)
	for _, e := range wanted {
		if !slices.Contains(all, e) && !slices.Contains(all, "*") {
			all = append(all, e)
		}
	}
	return all
}
