package gitea_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/prhost/gitea"
)

const secret = "a-token-that-nobody-may-see"

func options() gitea.Options {
	return gitea.Options{Server: "https://gitea.example.com", Owner: "acme", Repository: "config", BaseBranch: "main",
		Token: func(context.Context) (string, error) { return secret, nil }}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set  func(*gitea.Options)
		says string
	}{
		"no owner":          {func(o *gitea.Options) { o.Owner = "" }, "owner"},
		"no name":           {func(o *gitea.Options) { o.Repository = "" }, "name"},
		"no base branch":    {func(o *gitea.Options) { o.BaseBranch = "" }, "base branch"},
		"no token":          {func(o *gitea.Options) { o.Token = nil }, "acme/config needs a token"},
		"merge method":      {func(o *gitea.Options) { o.MergeMethod = "octopus" }, `"octopus"`},
		"no server":         {func(o *gitea.Options) { o.Server = "" }, "https://"},
		"no scheme":         {func(o *gitea.Options) { o.Server = "gitea.example.com" }, "https://"},
		"server, password":  {func(o *gitea.Options) { o.Server = "https://me:" + secret + "@gitea.example.com" }, "without credentials"},
		"server, character": {func(o *gitea.Options) { o.Server = "https://" + secret + "\x00" }, "https://"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options()
			if _, err := gitea.New(o); err != nil {
				t.Fatal(err)
			}
			c.set(&o)
			_, err := gitea.New(o)
			if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("error is %v, want it to say %q", err, c.says)
			}
		})
	}
}
