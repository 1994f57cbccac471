package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/test/fakegithub"
)

// setup runs the command against a fake GitHub, with a token.
func setup(t *testing.T, s *fakegithub.Server, args ...string) (out string, code int) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	file := write("sluice.yaml", fmt.Sprintf(`
public_url: https://sluice.example.test
database: {url: postgres://nobody@localhost/none}
config_repositories:
- {name: own, host: built-in}
- {name: shop, host: github, github: {owner: %s, repository: %s, server: %s, token_file: %s}}
webhooks:
- {host: github, secret_files: [%s]}
`, fakegithub.Owner, fakegithub.Repository, s.URL, write("token", fakegithub.Token+"\n"), write("secret", "a-webhook-secret\n")))
	cmd, text := newSetupCommand(), &strings.Builder{}
	cmd.SetOut(text)
	cmd.SetErr(text)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetArgs(append([]string{"github", "--config", file}, args...))
	err := cmd.ExecuteContext(t.Context())
	var exit *exitError
	switch {
	case errors.As(err, &exit):
		code = exit.Code
	case err != nil:
		t.Fatal(err)
	}
	if exit != nil && exit.Err != nil {
		text.WriteString(exit.Error())
	}
	for _, secret := range []string{fakegithub.Token, "a-webhook-secret"} {
		if strings.Contains(text.String(), secret) {
			t.Errorf("the output tells a secret:\n%s", text)
		}
	}
	return text.String(), code
}

func TestSetupGitHub(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	out, code := setup(t, s)
	for _, says := range []string{"shop: acme/platform-config on GitHub\n", "missing  webhook https://sluice.example.test/webhooks/github: there is none\n",
		"missing  protection of main: main takes direct pushes", "advice   identity: advisory: the status sluice/gates is not pinned to an App"} {
		if !strings.Contains(out, says) {
			t.Errorf("output is\n%s\nwant it to say %q", out, says)
		}
	}
	if code != 1 || len(s.Writes()) != 0 {
		t.Fatalf("exit status %d; wrote %q", code, s.Writes())
	}

	out, code = setup(t, s, "--apply", "--repository", "shop")
	if code != 0 || !strings.Contains(out, "made     webhook") || !strings.Contains(out, "made     protection of main\n") {
		t.Fatalf("exit status %d\n%s", code, out)
	}
	if got := s.Hooks(); len(got) != 1 || got[0].Secret != "a-webhook-secret" {
		t.Fatalf("webhooks are %+v", got)
	}

	out, code = setup(t, s, "--apply")
	if code != 0 || strings.Contains(out, "made") || strings.Count(out, "  ok       ") != 2 {
		t.Fatalf("exit status %d the second time\n%s", code, out)
	}
	if got := s.Writes(); !slices.Equal(got, []string{"POST hooks", "POST rulesets"}) {
		t.Fatalf("wrote %q", got)
	}
}

func TestSetupOfARepositoryThatIsNotThere(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	for _, name := range []string{"nobody-s", "own"} {
		if out, code := setup(t, s, "--repository", name); code != 2 || !strings.Contains(out, fmt.Sprintf("no config repository %q on GitHub", name)) {
			t.Errorf("exit status %d\n%s", code, out)
		}
	}
}
